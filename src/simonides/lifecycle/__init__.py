"""How memories live: moved up, summed up, put away, checked and handed over; without a language model."""
