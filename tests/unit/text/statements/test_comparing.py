"""Which of two texts changes what the other states: tables by kind, in words of their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.text.statements.comparing import compare_statements
from simonides.text.statements.reading import read_statements

SURE = {
    "residence": [
        ("I live in Brno.", "I moved from Brno to Lodz."),
        ("The user lives in Brno.", "The user has moved to Lodz."),
        ("Orla Finch lives in Brno.", "Orla Finch now lives in Lodz."),
        ("I live at 9 Cooper Lane.", "I now live at 4 Mill Street."),
        ("I moved to Lodz.", "I moved back to Brno."),
    ],
    "employer": [
        ("I work at Gullspire.", "I just started a new job at Marrowtide."),
        ("The user works for Gullspire.", "The user left Gullspire and joined Marrowtide."),
        ("Orla works at Gullspire.", "Orla no longer works at Gullspire; she keeps bees."),
        ("Orla works at Gullspire.", "Orla has taken a new job at Marrowtide."),
        ("I am employed by Gull & Spire.", "I was hired by Marrowtide as a welder."),
        ("Orla works at Gullspire.", "Orla quit her job at Gullspire."),
        ("Orla works at Gullspire.", "Orla was laid off last week."),
        ("Orla works as a welder.", "Orla retired in June."),
    ],
    "what one works as": [
        ("Orla works as a groom.", "Orla now works as a warden."),
        ("I work as a groom at the stable.", "These days I work as a warden."),
    ],
    "password": [
        ("The door code is 4471.", "The door code was changed to 9920."),
        ("My PIN is 8052.", "My PIN is 2417."),
        ('The passphrase of the disk is "six wet newts".', 'New passphrase of the disk: "nine dry voles".'),
    ],
    "address of a machine": [
        ("The cache listens on port 7001.", "The cache now listens on port 7002."),
        ("Debug host: crane.example:7001", "Debug host: crane.example:7118"),
        ("We moved the exporter from port 1 to 2.", "The exporter runs on port 3."),
    ],
    "version": [
        ("Limpet uses Kotlin 1.9.", "Limpet uses Kotlin 2.1 now."),
        ("Version 4.2 of Limpet is the current release.", "Limpet 5.0 was released today."),
    ],
    "price": [
        ("A day ticket costs 6 euros.", "A day ticket costs 7.50 euros."),
        ("The club has 31 members.", "The club is down to 29 members."),
        ("Hosting is 12 dollars a month.", "Hosting went up to 19 dollars a month."),
        ("I pay 640 euros of rent.", "My rent was raised to 710 euros."),
    ],
    "plan": [
        ("The review is on Tuesday 24 March.", "The review was moved to Thursday 26 March."),
        ("The essay is due on 1 June.", "The deadline of the essay was extended to 9 June."),
        ("The fair is planned for Saturday.", "The fair is cancelled because of the storm."),
        ("The ball is in the gym.", "The ball will be in the barn instead of the gym."),
        ("The fair takes place on the green.", "The fair is held in the depot nowadays."),
        ("My anatomy exam is on 3 May.", "They moved the anatomy exam to 9 May."),
    ],
    "no longer": [
        ("I smoke a pipe in the evening.", "I stopped smoking."),
        ("Orla is vegan.", "Orla is not vegan any more."),
        ("Orla is not vegan any more.", "Orla is vegan again."),
        ("We use Bazaar to build the site.", "We no longer use Bazaar."),
        ("I have a subscription to the Gazette.", "I cancelled my subscription to the Gazette."),
        ("Orla Finch owns a harp.", "Orla Finch gave the harp to the museum."),
        ("I drive a Gnat.", "I sold the Gnat."),
        ("I drive a Gnat.", "I sold my Gnat two weeks ago."),
        ("I have a cat called Smudge.", "Smudge died."),
        ("My dog is called Pip.", "My dog Pip passed away last night."),
        ("We have a pony named Comet.", "We gave Comet to a neighbour."),
        ("I smoke ten a day.", "I quit smoking three weeks ago."),
        ("I'm allergic to wool.", "Turns out I'm not allergic to wool after all."),
    ],
    "status": [
        ("I'm engaged to Milo.", "Milo and I broke off our engagement."),
        ("Orla is engaged to Milo.", "Orla is engaged to Bram."),
        ("Orla's husband is called Milo.", "Orla got divorced from Milo."),
        ("The user is single.", "The user got married to Ilse."),
        ("The user's partner is Milo.", "The user and Milo have split up."),
    ],
    "correction": [
        ("My train leaves at 8:15.", "Correction: my train leaves not at 8:15 but at 8:51."),
        ("The room is B12.", "The room is not B12 but D12."),
        ("My aunt's name is Rosa.", "Sorry, I got that wrong: my aunt is called Rosalba, not Rosa."),
    ],
    "preference": [
        ("I love liver.", "I can't stand liver any more."),
        ("I prefer window seats.", "I prefer aisle seats now."),
        ("Orla's favourite colour is ochre.", "Orla's favourite colour is teal."),
    ],
    "name": [
        ("Our project is called Nightheron.", "Project Nightheron was renamed to Goldfinch."),
        ("The bulletin is called Nightheron.", "The bulletin goes by Goldfinch now."),
        ("The club is called Nightheron.", "Nightheron merged and bears the name Goldfinch."),
        ("The default branch is master.", "We renamed the default branch to main."),
        ("The repository is example/tool-shed.", "The repository was renamed from tool-shed to strongbox."),
    ],
    "office": [
        ("Teo is the captain of the second team.", "Mara took over as captain of the second team from Teo."),
        ("Orla leads the harbour project.", "Bram leads the harbour project."),
        ("Orla owns the harbour project.", "Bram took the harbour project over from Orla."),
        ("Our vet is Dr. Finch.", "We changed vets: it's Dr. Venn now."),
    ],
}

UNSURE = {
    "somebody by name": [
        ("My sister Orla lives in Brno.", "Orla moved to Lodz."),
        ("My sister, Orla, lives in Brno.", "Orla has moved to Lodz."),
        ("Orla lives in Brno.", "My sister Orla lives in Lodz."),
        ("My dog Pip eats kibble.", "Pip eats turkey now."),
    ],
    "one slot": [
        ("Warm Soup serves forty people a day.", "Warm Soup serves sixty people a day."),
        ("The shuttle runs every 40 minutes.", "The shuttle runs every hour."),
        ("Loans are recorded on cards.", "Loans are recorded with barcodes."),
        ("The tower's roof is green.", "The tower's roof is red."),
    ],
    "count": [
        ("The petition has 1,200 signatures.", "The petition stands at 2,050 signatures."),
    ],
    "role": [
        ("Orla Finch is deputy mayor.", "Orla Finch was elected mayor."),
        ("Orla Finch works as a groom.", "Orla Finch started as a warden."),
    ],
    "contradictions": [
        ("Orla likes the old kettle.", "Orla does not like the old kettle."),
        ("Orla is vegan.", "Orla is not vegan."),
    ],
    "homes and jobs that may be a second one": [
        ("Orla lives in Brno.", "Orla found a flat in Lodz."),
        ("Orla works at Gullspire.", "Orla took a job at Marrowtide."),
        ("The food bank is at the old mill.", "The food bank has found a home in the fire station."),
        ("The food bank is at the old mill.", "The food bank had to go to the bus depot."),
        ("Orla is a beekeeper.", "Orla retired in June."),
        ("Orla uses crutches.", "Orla doesn't need crutches any more."),
    ],
    "words of change": [
        ("The choir rehearses in the mill.", "The choir found a new mill for the choir."),
    ],
    "says more": [("The door code is 4471, and the attic has a padlock.", "The door code is 9920.")],
}

NONE = {
    "two of one name": [
        ("My sister Orla lives in Brno.", "My friend Orla lives in Lodz."),
        ("My sister lives in Brno.", "My flat is in Lodz."),
    ],
    "likes": [
        ("Orla likes tea.", "Orla likes rye."),
        ("I speak Danish.", "I speak Breton."),
        ("Orla plays the harp.", "Orla plays handball."),
    ],
    "several": [
        ("I have a dog called Comma.", "I have a cat called Dash."),
        ("My sister is called Ada.", "My sister is called Bea."),
        ("The user is allergic to wool.", "The user is allergic to bees."),
        ("Room 1 shows flint.", "Room 2 shows gold."),
    ],
    "platforms": [
        ("The build was tested on arm64.", "The build was tested on x86."),
        ("Endpoint /a returns JSON.", "Endpoint /b returns CSV."),
    ],
    "what is gone is something else": [
        ("I drive a Gnat.", "I sold the Gnat brochures."),
        ("I work at Gnat.", "I sold the Gnat."),
        ("I make honey.", "I sold the honey."),
        ("Orla has a parrot called Duke.", "Duke Ellery died in 1911."),
        ("I have a cat called Smudge.", "Our old dog Rusty died in March."),
        ("I have a brother called Tom.", "Tom died."),
        ("I have a cat called Smudge.", "We gave Smudge to a neighbour for a week."),
        ("The user is allergic to wool.", "The user is no longer allergic to bees."),
    ],
    "another parting": [
        ("I'm married to Ilse.", "I broke up the fight between the neighbours."),
        ("Bram is married to Ilse.", "Bram and his business partner split up."),
        ("I'm married to Ilse.", "We split up into groups."),
        ("Orla is married to Milo.", "Orla is engaged in a study."),
        ("Orla is married to a Swede.", "Orla is married to Anders."),
    ],
    "a job on the side": [
        ("I work at Gullspire.", "I took a side job at the stable."),
        ("I work at Gullspire.", "I started a second job at the stable."),
        ("I live in Brno.", "I got a holiday flat in Lodz."),
        ("Orla works as a groom.", "Orla now works as a guide on Sundays."),
        ("Orla works as a groom.", "Orla now works as a guide until May."),
        ("Orla works as a groom.", "Orla has worked as a guide."),
        ("Orla works at Gullspire.", "Orla quit her job at the stable."),
    ],
    "whose it is": [
        ("I live at 9 Cooper Lane.", "The address is 4 Mill Street."),
        ("Our vet is Dr. Finch.", "The vet is on Thursday."),
    ],
    "qualified": [
        ("My e-mail is a@b.example.", "My work e-mail is c@d.example."),
        ("Staging runs on port 8101.", "Production runs on port 8200."),
        ("A small mug costs 8 crowns.", "A large mug costs 9 crowns."),
        ("My flat is in Rome.", "My office is in Pisa."),
        ("I prefer trains for short trips.", "I prefer ferries for long trips."),
        ("On Mondays the clinic is in room 2.", "On Fridays the clinic is in room 6."),
        ("In the sandbox, Teller is 3.3.", "In production, Teller is 3.1."),
    ],
    "weekdays": [
        ("Tessa lives in Porto.", "Tessa lives in Ghent during the week."),
        ("I work at Gullspire on weekdays.", "I work at the stable on Saturdays."),
    ],
    "also": [
        ("Orla manages the north team.", "Orla manages the south team as well."),
        ("I keep hives on the roof.", "I keep another four hives in the quarry."),
    ],
    "wishes, plans, conditions, reports": [
        ("Orla lives in Cork.", "Orla dreams of living in Lisbon."),
        ("Orla lives in Cork.", "Orla plans to move to Lisbon."),
        ("Orla lives in Cork.", "If Orla moves to Lisbon, she sells the car."),
        ("Orla lives in Cork.", "Orla might move to Lisbon."),
        ("Orla lives in Cork.", "Bram said that Orla lives in Lisbon."),
        ("Our database is Postgres 16.", "We considered Bazaar and decided against it."),
    ],
    "questions": [
        ("Orla lives in Cork.", "Does Orla live in Lisbon?"),
        ("The key is in the shed.", "Is the key in the drawer now?"),
    ],
    "grain": [
        ("I live in Turku.", "I live in Finland."),
        ("Orla is based in Austria.", "Orla is based in Steyr."),
        ("Our shop is in the old town.", "Our shop is in Cooper Alley."),
    ],
    "temporary": [
        ("The library opens at ten.", "The library opens at noon today because of a burst pipe."),
        ("I live in Turku.", "I am staying with an aunt in Vaasa."),
    ],
    "events": [
        ("I went to Lyon in May.", "I went to Turin in June."),
        ("I ran a mile in 6:10.", "I ran a mile in 6:02."),
        ("Orla bought a green scarf.", "Orla bought a satchel."),
        ("Orla lives in Cork.", "Orla lived in Tromso until 2019."),
    ],
    "schedules": [("The boat leaves at 9:10.", "The boat leaves at 16:40.")],
    "another form": [
        ("The meeting is at 15:00.", "The meeting is at 3 pm."),
        ("I live in New York City.", "I live in NYC."),
        ("Orla weighs 82 kg.", "Orla weighs 82.0 kilograms."),
        ("My birthday is on 3 March.", "My birthday is on the third of March."),
        ("I have two desks.", "I have 2 desks."),
    ],
    "others": [
        ("I live in Turku.", "My brother lives in Vaasa."),
        ("Orla lives in Cork.", "Orla's cousin moved to Lisbon."),
        ("Orla Venn teaches.", "Orla Osk retired."),
    ],
    "fragments of turns": [
        ("assistant: About 2,006 euros.", "assistant: Electricity is 79 euros now."),
        ("user: My salary is 2,940 euros a month.", "user: Rent is 870, paid by standing order."),
        ("assistant: On 18 May at 9:20.", "assistant: On 21 May at 8:00."),
    ],
    "labels without an owner": [
        ("Date: 2026-05-03", "Date: 2026-05-04"),
        ("Status: open", "Status: closed"),
    ],
    "nothing of it": [
        ("The password is heron-lamp-9.", "The password is weak."),
        ("The door code is 4471.", "The door code is secret."),
        ("I left the house at nine.", "I went home."),
    ],
}


WORDS = (
    "I we The user Orla is was not no longer any more moved to from in on at 8:15 4471 Turku , . ; : but now the a"
    " code of password and lives works has been called off instead again ' \" ( ) - 1.2.3 v2 euros"
)


def rows(table: dict[str, list[tuple[str, str]]]) -> list[object]:
    return [pytest.param(*pair, id=f"{kind}: {pair[1]}") for kind, pairs in table.items() for pair in pairs]


@pytest.mark.fault("N30")
@pytest.mark.parametrize(("earlier", "later"), rows(SURE))
def test_a_change_that_ends_the_earlier_one(earlier: str, later: str) -> None:
    change = compare_statements(earlier, later)
    assert change is not None
    assert change.sure, change.rule


@pytest.mark.fault("N4")
@pytest.mark.parametrize(("earlier", "later"), rows(UNSURE))
def test_a_change_that_only_puts_the_later_one_first(earlier: str, later: str) -> None:
    change = compare_statements(earlier, later)
    assert change is not None
    assert not change.sure, change.rule


@pytest.mark.fault("N30")
@pytest.mark.parametrize(("one", "other"), rows(NONE))
def test_what_may_both_be_true_is_no_change(one: str, other: str) -> None:
    assert compare_statements(one, other) is None
    assert compare_statements(other, one) is None or one.startswith("Orla lives")


@pytest.mark.fault("N30")
def test_who_parts_from_one_is_with_another_still() -> None:
    assert compare_statements("I'm married to Ilse.", "The user and Milo have split up.") is None
    assert compare_statements("My boyfriend is Tom.", "I broke up with Tim.") is None
    assert compare_statements("My boyfriend is Tom.", "I broke up with Tom.") is not None


@pytest.mark.fault("N30")
def test_neither_she_nor_it_is_who_says_i() -> None:
    name = "My name is Orla."
    assert compare_statements(name, "We have adopted a cat from the shelter, she's called Juno.") is None
    assert compare_statements(name, "I bought a boat, it is called Dora.") is None
    home = "I live in Brno."
    assert compare_statements(home, "I met Bea, she is a welder and lives in Lodz.") is None
    assert compare_statements("Orla lives in Brno.", "Orla is a welder and she lives in Lodz.") is not None


@pytest.mark.fault("N30")
def test_i_is_whoever_speaks() -> None:
    old = "I live in Turku."
    assert compare_statements(old, "I moved to Vaasa.", earlier_speaker="Orla", later_speaker="Orla")
    assert compare_statements("Orla lives in Turku.", "I moved to Vaasa.", later_speaker="Orla")
    assert compare_statements("Orla lives in Turku.", "Orla: I moved to Vaasa.")
    assert compare_statements("User: I live in Turku.", "The user moved to Vaasa.")
    assert compare_statements(old, "I moved to Vaasa.", later_speaker="Orla") is None
    assert compare_statements(old, "I moved to Vaasa.", later_speaker="assistant") is None


def test_the_label_of_the_speaker_is_nothing_that_is_stated() -> None:
    said = {"earlier_speaker": "Orla", "later_speaker": "Orla"}
    assert compare_statements("Orla: 79 euros a month.", "Orla: 100 euros a month.", **said) is None
    assert compare_statements("Orla Finch: 555-0114", "Orla Finch: 555-0186") is not None
    field = "text: The spare key hangs in the pantry.", "text: Ines lost a key of the car."
    assert compare_statements(*field) is None


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    compare_statements(one, other)
    for statement in read_statements(one):
        assert statement.subject


@given(
    st.lists(
        st.sampled_from(WORDS.split(" ")),
        max_size=14,
    )
)
def test_any_words_in_any_order_can_be_read(words: list[str]) -> None:
    text = " ".join(words)
    read_statements(text)
    compare_statements("The door code is 4471.", text)
    compare_statements(text, "The door code is 4471.")


def test_a_long_text_states_nothing() -> None:
    assert read_statements("The door code is 4471. " * 30) == ()
    assert read_statements("") == () == read_statements("  \n")
