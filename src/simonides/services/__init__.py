"""What a bank does, one module for each reason to change; ``simonides.bank.Bank`` is their public interface.

Each service is a frozen dataclass whose one field is the ``BankContext``, and it is made anew for each call.
A method that has the name of one of ``Bank`` does what the docstring there says.
"""
