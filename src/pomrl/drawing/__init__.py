"""The parts of figures: series and views of stored tables, kinds of panels, style, notes and files."""
