"""What any package may use: files, HTML, JSON, arrays from untrusted files, drawing, random generators."""
