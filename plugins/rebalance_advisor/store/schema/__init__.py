"""The database: connection, migrations, names, SQL files."""
