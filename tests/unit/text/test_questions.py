"""N3: which texts only ask, by grammar."""

from __future__ import annotations

import pytest

from simonides.text.speech import is_about_questions, only_asks

pytestmark = pytest.mark.fault("N3")

ASKS = [
    # With a mark.
    "Where does the boat shed key hang?",
    "And which tin holds the blue paint?",
    "Hi! What was the number of the plumber?",
    "Okay, thanks. And when does the ferry leave?",
    "Sorry, I forgot. Who waters the figs?",
    "Do you remember which size the filter has?",
    "Could you look up the vet's address?",
    "Can you remind me when the ferry leaves?",
    "Is it true that the ferry was cancelled, and why?",
    "If I remember well, what did the ferry cost?",
    "The code of the shed, what was it again?",
    "The ferry leaves from pier four, right?",
    "The ferry leaves from pier four, doesn't it?",
    "What did Dr. Ovrebo say about the knee?",
    "and the code of the shed?",
    "Hey Odalys, do you know where pier four is?",
    # Without one.
    "what's the code of the shed again",
    "where did I put the blue paint",
    "who waters the figs",
    "which pier does the ferry leave from",
    "how many figs are left",
    "is the ferry on time",
    "do you know the code of the shed",
    "can you tell me where pier four is",
    "tell me the code of the shed",
    "please tell me when the ferry leaves",
    "remind me which pier it was",
    "Remind me of the code of the shed.",
    "show me all my passwords",
    "give me the address of the vet again",
    "list my allergies",
    "I forgot where the key hangs",
    "I'd like to know which pier it is.",
    "I wonder whether the ferry is late",
    "by the way, what's the code of the shed",
    "any idea where the key is",
    # Other languages.
    "\u00bfD\u00f3nde est\u00e1 la llave?",
    "Wo h\u00e4ngt der Schl\u00fcssel?",
    "Qual \u00e9 o c\u00f3digo do port\u00e3o?",
    "\u9375\u306f\u3069\u3053\u3067\u3059\u304b\u3002",
    "\u94a5\u5319\u5728\u54ea\u91cc\uff1f",
]

STATES = [
    # Both.
    "My ferry is at 9, can you remind me?",
    "The ferry leaves at 9 and can you wake me?",
    "I've got a new number, it's 555-0177, okay?",
    "The lamp is in the attic. Where is yours?",
    "We adopted a goat. Isn't that great?",
    "Where? In the attic.",
    "Meine F\u00e4hre geht morgen um neun, weckst du mich?",
    # Handed over.
    "Can you remind me to buy figs on Friday?",
    "Could you please always answer in metric units?",
    "Did you know that I was born in Norrhav?",
    "Can you note that my shoe size is 44?",
    "Remind me to call Odalys on Friday.",
    "Remind me on Friday that the figs need water.",
    "Tell Odalys that the ferry is late.",
    # Begin as questions do.
    "What a day.",
    "How nice to have family there.",
    "When I was in Norrhav I lost my bag.",
    "What I like is tea.",
    "Which is why I moved to the coast.",
    "Do not touch the blue tin.",
    "Do the dishes before nine.",
    "Have a nice day!",
    "Have the boat ready by nine.",
    "Will do.",
    "Should you need me, call 555-0177.",
    "I forgot my keys on the ferry.",
    "I don't know how to swim.",
    # Plain.
    "The ferry leaves at 9.",
    "Please send it to 5 Fig Lane.",
    "Always use metric units.",
    "Thanks, good night.",
    "See https://norrhav.example/?page=2 for the figs.",
    "",
    "?!",
    "a " * 600 + "?",
]


@pytest.mark.parametrize("text", ASKS)
def test_a_question_or_a_request_only_asks(text: str) -> None:
    assert only_asks(text)


@pytest.mark.parametrize("text", STATES)
def test_what_states_something_does_not_only_ask(text: str) -> None:
    assert not only_asks(text)


@pytest.mark.parametrize(
    ("query", "expected"),
    [("What did I ask about figs?", True), ("open questions", True), ("mask", False), ("figs", False)],
)
def test_a_query_may_be_about_questions(query: str, expected: bool) -> None:
    assert is_about_questions(query) is expected
