"""What stands between marks in the pages: one file per subject, written from bench/results/."""
