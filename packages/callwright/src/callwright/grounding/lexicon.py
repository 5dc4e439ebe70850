"""Words with a part to play: those that carry no claim, those that judge, those that announce a
calculation.
"""

from __future__ import annotations

from callwright.language import ENGLISH

# Words an honest paraphrase may add without claiming anything.
GLUE = ENGLISH.words("statements.glue")

# Words that deny, without a subject of their own.
NOTHING = ENGLISH.words("statements.nothing")

# Capitalised words that name nothing in particular.
NOT_NAMES = ENGLISH.words("statements.not_names")

# Judgements: claims although they hold no number. Supported only by a word of the results or the
# question.
JUDGEMENT = ENGLISH.words("statements.judgement")

SUM = ENGLISH.pattern("statements.sum")
DIFFERENCE = ENGLISH.pattern("statements.difference")
# What is left of a whole: the difference of two fields of one record, told in words of its own.
REST = ENGLISH.pattern("statements.rest")
AVERAGE = ENGLISH.pattern("statements.average")
COMPARISON = ENGLISH.pattern("statements.comparison")
RATIO = ENGLISH.pattern("statements.ratio")
EACH = ENGLISH.pattern("statements.each")
PRODUCT = ENGLISH.pattern("statements.product")
LIMITATION = ENGLISH.pattern("statements.limitation")
COURTESY = ENGLISH.pattern("statements.courtesy")

# Comparisons that numbers can bear out, and at which end of their column.
EXTREMES: dict[str, str] = {
    word: ends
    for ends, words in ENGLISH.table("statements.extremes").items()
    for word in words.split()
}

OPPOSITES = {
    word: other
    for pair in ENGLISH.listed("statements.opposites")
    for word, other in (tuple(pair.split()), tuple(reversed(pair.split())))
}
