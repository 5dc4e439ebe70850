"""Holds the texts of the planted defects, written from each class's definition before the rules
were tested on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callwright.nouns.types import Json

VAGUE = (
    "a specific {}", "a certain {}", "a particular {}", "some {}", "my {}", "the {} that I like", "one {}", "any {}",
)  # fmt: skip
PLACEHOLDERS = (
    "<{key}>", "YOUR_{KEY}", "your_{key}", "[{KEY}]", "{{{{{key}}}}}", "insert {noun} here", "TBD", "XXXX", "string",
    "N/A", "{key}_value", "example_{key}", "${key}", "...",
)  # fmt: skip
BLANKS = ("[city]", "____", "{name}", "<date>", "[insert value]", "XXX", "(your choice)")
DATES = (
    "2024-02-30", "30 February 2024", "April 31, 2024", "2024-13-05", "31/11/2024", "the 32nd of May", "June 31st",
    "2023-02-29",
)  # fmt: skip
RANGES = (
    "from 2024-05-10 to 2024-05-03",
    "between June 12, 2024 and June 3, 2024",
    "from 14 May 2024 until 9 May 2024",
    "arriving on 2024-08-20 and leaving on 2024-08-11",
    "from Friday, 9 August 2024 back to Monday, 5 August 2024",
    "starting on 1 March 2025 and ending on 27 February 2025",
)
QUESTIONS = (
    "Which of these do you mean?",
    "Could you tell me the exact name?",
    "Please give me the date, and I will look it up.",
    "I would need your account number for that.",
    "What is the full title that you are looking for?",
    "Before I can go on, let me know where you want to start from.",
    "Can you share the code with me?",
    "For which year should I look?",
    "Please specify the amount.",
    "To help you I have to know more about what you want.",
    "May I ask for the city?",
    "There are several. Which one should I take?",
)
ADMISSIONS = (
    "The service gave me nothing for this, so that part stays open.",
    "I could not find out what you asked for.",
    "None of the calls brought a result.",
    "That information is not available at the moment.",
    "Unfortunately there is no answer to this.",
    "It was not possible to get the data.",
    "I was unable to look this up.",
    "The tool returned an error, so I cannot say.",
    "No data could be retrieved.",
    "I do not know; the tools say nothing of it.",
    "This cannot be answered with the tools at hand.",
    "Sorry, the request failed.",
)
SURRENDERS = ("I cannot go on.", "The tools do not work.", "It is impossible to solve.")
UNHEARD = (
    "It was founded in 1987 and employs 4,312 people.",
    "Visitors rate it 4.7 out of 5.",
    "Tickets cost 38.50 euros.",
    "Its manager is Ingrid Solheim.",
    "It closes at 21:40.",
    "The nearest station is Porta Vescovo.",
    "That is 17 percent more than last year.",
    "It was last changed on 3 November 2019.",
    "There is also a branch in Montevideo.",
    "The record is 6,204 metres.",
)
EXTRAS: Sequence[tuple[str, Json]] = (
    ("verbose", True), ("language", "en"), ("format", "json"), ("max_results", 25), ("include_details", "yes"),
)  # fmt: skip
FAILURES: Mapping[str, Json] = {
    "error": {"error": "Internal server error"},
    "status": {"status": "error", "message": "quota exceeded"},
    "success": {"success": False, "message": "access denied"},
    "code": {"code": 500, "detail": "Server Error"},
    "text": "404 Not Found",
    "sentence": "The service is temporarily unavailable. Please try again later.",
    "errors": {"errors": [{"title": "Bad request", "detail": "value out of range"}]},
    "exception": "ValueError: there is no such item",
    "message": {"message": "You are not subscribed to this API."},
}
