"""The schema of a store, and the checksums of its rows.

`seal` is a Python function that a connection knows (see `database`). Files of another `VERSION` are refused.
"""

# The columns of `result` in the order of `core.metrics.Metrics`.
METRIC_COLUMNS = ("reward", "last_reward", "episodes", "mean_return", "last_return", "last_steps", "best_steps")

# Text goes into a seal as its bytes: corrupted text may not be text any more.
SEALED = """CAST(c.id AS BLOB), r.steps, r.diverged, r.reward, r.last_reward, r.episodes, r.mean_return,
    r.last_return, r.last_steps, r.best_steps, k.seconds, k.speed, CAST(k.machine AS BLOB), CAST(k.versions AS BLOB),
    CAST(k.finished AS BLOB), p.arrays, p.learner"""
RESULT_SEAL = f"seal({SEALED})"
RESULT_PARTS = "LEFT JOIN circumstance k ON k.cell = r.cell LEFT JOIN payload p ON p.cell = r.cell"
MEMBER_SEAL = "seal(CAST(m.study AS BLOB), m.place, CAST(m.label AS BLOB), CAST(c.id AS BLOB))"
STUDY_SEAL = """seal(CAST(s.name AS BLOB), CAST(s.definition AS BLOB), CAST(s.baseline AS BLOB),
    CAST(s.measure AS BLOB), (SELECT count(*) FROM member m WHERE m.study = s.name))"""
CHOICE_SEAL = "seal(CAST(study AS BLOB), CAST(label AS BLOB), CAST(env AS BLOB), CAST(content AS BLOB))"

SEAL_RESULTS = f"""UPDATE result SET seal = (SELECT {RESULT_SEAL} FROM result r JOIN cell c ON c.number = r.cell
    {RESULT_PARTS} WHERE r.cell = result.cell)"""
SEAL_MEMBERS = f"""UPDATE member SET seal = (SELECT {MEMBER_SEAL} FROM member m JOIN cell c ON c.number = m.cell
    WHERE m.study = member.study AND m.place = member.place)"""
SEAL_STUDIES = f"UPDATE study SET seal = (SELECT {STUDY_SEAL} FROM study s WHERE s.name = study.name)"

VERSION = 2
TABLES = """
    CREATE TABLE study (name TEXT PRIMARY KEY, definition TEXT NOT NULL, baseline TEXT, measure TEXT, seal TEXT) WITHOUT ROWID;
    CREATE TABLE cell (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, env TEXT NOT NULL,
        steps INTEGER NOT NULL, seed INTEGER NOT NULL, content TEXT NOT NULL);
    CREATE TABLE member (
        study TEXT NOT NULL, place INTEGER NOT NULL, cell INTEGER NOT NULL REFERENCES cell, label TEXT NOT NULL, seal TEXT,
        PRIMARY KEY (study, place)) WITHOUT ROWID;
    CREATE TABLE result (
        cell INTEGER PRIMARY KEY REFERENCES cell, steps INTEGER NOT NULL, diverged INTEGER NOT NULL,
        reward REAL, last_reward REAL, episodes REAL, mean_return REAL, last_return REAL, last_steps REAL,
        best_steps REAL, seal TEXT);
    CREATE TABLE circumstance (
        cell INTEGER PRIMARY KEY REFERENCES cell, seconds REAL, speed REAL, machine TEXT, versions TEXT, finished TEXT);
    CREATE TABLE payload (cell INTEGER PRIMARY KEY REFERENCES cell, arrays BLOB NOT NULL, learner BLOB);
    CREATE TABLE failure (
        cell INTEGER PRIMARY KEY REFERENCES cell, attempts INTEGER NOT NULL, error TEXT NOT NULL, traceback TEXT);
    CREATE TABLE choice (
        study TEXT NOT NULL, label TEXT NOT NULL, env TEXT NOT NULL, content TEXT NOT NULL, seal TEXT,
        PRIMARY KEY (study, label, env)) WITHOUT ROWID;
"""  # noqa: E501 (files contain this text to the letter, and others are refused)
