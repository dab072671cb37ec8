"""Files and folders of text as lines, tables and JSON documents."""
