"""What every interface for others has in common: tokens, open banks, bounded work. Knows no protocol."""
