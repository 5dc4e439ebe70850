"""Words with a part to play: those that carry no claim, those that judge, those that announce a
calculation.
"""

from __future__ import annotations

import re

# Words an honest paraphrase may add without claiming anything.
GLUE = frozenset(
    """
a an the this that these those there here it its they them their he she his her we our you your i me my us who whom
which what when where why how whose is are was were be been being am do does did done doing have has had having will
would shall should can could may might must and or but nor so yet if then else than as at by for from in into
of off on
onto out over to up upon with within without about above across after again against along also although among around
because before behind below beneath beside besides between beyond both down during each either every except few first
last less like many more most much near neither next no none not now once one only other others our own per
plus same second several since some still such through throughout thus together too total toward towards under until
very via was way well while whole yes zero according additionally respectively currently current approximately roughly
nearly almost exactly just however therefore overall altogether combined following follows followed based given
provided listed list lists listing found find finds show shows shown showing showed returned returns return indicate
indicates indicated report reports reported say says said state states stated note noted include includes included
including contain contains contained show result results response data information info detail details answer summary
question request requested query requests tool tools record records entry entries item items value values
number numbers
figure figures amount amounts thing things kind type part name named names called known available exist exists equal
equals equivalent correspond corresponds come comes came go goes going get gets got getting make makes made take takes
taken took give gives gave use uses used using need needs needed want see seen look looks put set sets stand stands
stood sit sits lie lies located location place places situated happen happens happening occur occurs begin begins
beginning begun began start starts starting end ends ending finish run runs last expect expected work works working
mean means meaning due planned scheduled schedule time times date dates day days today tomorrow yesterday week weeks
month months year years hour hours minute minutes degrees degree percent point points unit units long short away far
ago later earlier early late another third half double twice different difference compared comparison versus
ranging range ranges between least most maximum minimum maximal minimal average averages sum adds
i'm sorry please let know help hope hello hi thanks thank welcome feel sure certainly further additional
please also well here's latest recent exact specific certain per piece pieces people person total totals
two three four five six seven eight nine ten eleven twelve dozen hundred thousand million billion
top bottom left right back full partial instead meanwhile finally lastly firstly secondly next previous
""".split()
)

# Capitalised words that name nothing in particular.
NOT_NAMES = frozenset(
    """
i the a an it this that these those there here they we you he she its my your our their in on at for from to
of by with
and or but if when while where what which who how why yes no not monday tuesday wednesday thursday friday
saturday sunday
january february march april may june july august september october november december jan feb mar apr jun jul aug sep
sept oct nov dec am pm utc gmt cet cest est pst mr mrs ms dr sir madam please note however additionally also finally
lastly meanwhile therefore based according unfortunately sorry regarding overall total both all each every some most
several one two three four five six seven eight nine ten first second third next then api id ids url urls json ok
celsius fahrenheit kelvin km kilometers miles usd eur gbp name date time price rating title description status type
address location email phone number genre version source link links result results details information summary answer
here's i'm it's let's don't
""".split()
)

# Judgements: claims although they hold no number. Supported only by a word of the results or the
# question.
JUDGEMENT = frozenset(
    """
best worst better worse good bad great excellent amazing wonderful beautiful lovely stunning charming romantic famous
popular busiest busy crowded quiet cheap cheapest expensive priciest affordable inexpensive costly pricey bargain
luxurious luxury comfortable convenient reliable unreliable safe safest dangerous risky easy easiest difficult hard
simple fast fastest slow slowest quick quickest modern historic ancient oldest newest youngest largest biggest
smallest
tallest highest lowest longest shortest nearest closest farthest richest poorest hottest coldest warmest wettest
driest sunniest strongest weakest heaviest lightest important significant major minor key leading top-rated
recommended ideal perfect suitable unsuitable favourite favorite renowned celebrated iconic unique rare common usual
typical typically usually always never often rarely frequently seldom guaranteed refundable free complimentary
strongest weakest delayed cancelled canceled punctual direct nonstop award-winning award awards successful
unsuccessful profitable healthy
unhealthy fresh delicious tasty spicy exciting boring interesting impressive remarkable growing declining rising
falling increasing decreasing booming thriving struggling clean dirty polluted friendly helpful strict lenient
legal illegal official unofficial verified trusted bestselling best-selling acclaimed critically beloved
""".split()
)

SUM = re.compile(r"\b(?:total|sum|combined|altogether|together|in all|overall|adds? up|both|aggregate|grand total"
                 r"|costs?|"
                 r"round trip|all (?:two|three|four|five|six|\d+))\b", re.IGNORECASE)  # fmt: skip
DIFFERENCE = re.compile(
    r"\b(?:difference|differs?|gap|between|increase[ds]?|decrease[ds]?|rose|rise[ns]?|fell|falls?|grew|grow[ns]?|drop(?:s|ped)?|cool(?:s|ed)?|warm(?:s|ed)?|change[ds]?|remain\w*|left|"
    r"than|before|after|younger|older|lower|higher|fewer|longer|shorter|cheaper|dearer|taller|smaller|larger|bigger|"
    r"heavier|lighter|warmer|cooler|colder|hotter|faster|slower|newer|nearer|farther|further|behind|below|above|won|lost|lead|"
    r"leads|beat|beats|save[sd]?|savings?|ahead|behind|earlier|later|apart|spread|margin|exceeds?|outnumbers?"
    r"|short of|until|ago|"
    r"more|less|range[sd]?|spans?|daylight|day length|layover|stay|old|age)\b",
    re.IGNORECASE,
)
# What is left of a whole: the difference of two fields of one record, told in words of its own.
REST = re.compile(
    r"\b(?:left|remain\w*|rest|free|spare|unused|unspent|unsold|not|lost|lose[sd]?|missing|missed|without|short|under"
    r"|available|still|over)\b|n['’]t\b",
    re.IGNORECASE,
)
AVERAGE = re.compile(r"\b(?:average[sd]?|mean|avg|on average|typical(?:ly)?)\b", re.IGNORECASE)
COMPARISON = re.compile(
    r"\b(?:vs|versus|compared|than|unlike|instead of|as opposed to|against|from|rather)\b",
    re.IGNORECASE,
)
RATIO = re.compile(
    r"\b(?:times|twice|half|double|triple|ratio|per|percent|share|proportion|as"
    r" (?:many|much|large|big|long)|each|"
    r"one third|quarter|density|fraction|out of)\b|%",
    re.IGNORECASE,
)
TWICE = re.compile(
    r"\b(?:return|round trip|both ways|there and back|twice|double|two|both)\b", re.IGNORECASE
)
EACH = re.compile(
    r"\b(?:per|each|every|apiece|one (?:portion|serving|night|person|day|piece|unit|ticket)|a"
    r" (?:portion|night"
    r"|person|day|piece)|"
    r"portion|serving|nightly|daily|density)\b",
    re.IGNORECASE,
)
PRODUCT = re.compile(
    r"\b(?:total|converts?|converted|conversion|exchange|equals?|equivalent|worth|would"
    r" (?:be|cost)|comes? to"
    r"|amounts? to|"
    r"for (?:\w+"
    r" )?(?:nights?|days?|people|persons?|tickets?|guests?|pieces?|units?)|nights?|each|gets?"
    r" you|buys?|"
    r"costs?|corresponds?|is about|makes)\b|=",
    re.IGNORECASE,
)
LIMITATION = re.compile(
    r"\b(?:could(?:n['’]t| not) (?:be"
    r" )?(?:found|find|retriev\w*|determin\w*|obtain\w*|fetch\w*|get|provide\w*"
    r"|access\w*|"
    r"complet\w*|locat\w*|confirm\w*|check\w*|verif\w*|reach\w*)|unable to|not able to|no"
    r" (?:information|data"
    r"|results?|"
    r"records?|details?|match\w*|entries)|not"
    r" (?:available|found|provided|known|included|listed|specified|possible|"
    r"given|contained|mentioned)|"
    r"unavailable|unknown|missing|failed|fails|can(?:not|['’]t) (?:be )?(?:\w+"
    r" ?)?(?:provide|find|found|answer"
    r"|determine|"
    r"confirm|tell|say|retrieve|check|known|access)\w*|did not"
    r" (?:return|provide|include|contain|succeed|find)|"
    r"didn['’]t (?:return|provide|find)|do(?:es)? not"
    r" (?:contain|include|say|provide|list|have|mention|exist)|"
    r"don['’]t have|doesn['’]t (?:exist|contain|include|say|provide|list|mention)|timed"
    r" out|time-?out|error|"
    r"was skipped|were skipped|skipped|not executed|no answer|encountered|i"
    r" apologi[sz]e|sorry|limitation|"
    r"temporarily|try again)\b",
    re.IGNORECASE,
)
COURTESY = re.compile(
    r"^\W*(?:let me know|please (?:let|feel|note|try|contact|check)|feel free|i hope|hope"
    r" this|enjoy|thank"
    r"|you(?:'re)? welcome|"
    r"happy to|if you (?:have|need|want|would)|is there anything|here (?:is|are) (?:the|a|an|some"
    r"|your)\b[^.]{0,80}:?$|"
    r"the (?:following|results?|details?|answers?)\b[^.\d]{0,60}(?:follows?|are|is)\s*:?$|cheers|sure|certainly)",
    re.IGNORECASE,
)

# Comparisons that numbers can bear out, and at which end of their column.
EXTREMES = {
    word: ends
    for ends, words in {
        "min": (
            "cheapest cheap cheaper affordable inexpensive lowest smallest shortest nearest closest"
            " coldest poorest slowest lightest weakest fewest least driest earliest"
        ),
        "max": (
            "expensive priciest costly largest biggest highest longest tallest farthest hottest"
            " warmest richest fastest strongest heaviest wettest sunniest best top-rated popular"
            " busiest major"
        ),
        "min max": (
            "oldest newest youngest worst quickest falling rising increasing decreasing growing"
            " declining latest better worse hard light important"
        ),
    }.items()
    for word in words.split()
}

_OPPOSED = (
    "up down, open closed, online offline, active inactive, enabled disabled, available"
    " unavailable, healthy unhealthy, success failed, successful failed, valid invalid, on off,"
    " full empty, approved rejected, pending completed, running stopped, public private, paid"
    " unpaid, connected disconnected, visible hidden, locked unlocked"
)
OPPOSITES = {
    word: other
    for pair in _OPPOSED.split(", ")
    for word, other in (tuple(pair.split()), tuple(reversed(pair.split())))
}
