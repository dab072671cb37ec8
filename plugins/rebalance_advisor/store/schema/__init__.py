"""Connection, migrations and SQL files."""
