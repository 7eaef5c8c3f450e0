"""What figures are made of: series and their views, kinds of panels, style, files."""
