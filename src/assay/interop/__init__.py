"""Import and export of other tools' formats; tables of votes and labels."""
