"""Helpers for every package: files, HTML, JSON, arrays from untrusted files, drawing, random generators."""
