"""Planted statements, part 2: tables, files, companies, people, sport, nature. All values are made up."""

# ruff: noqa: E501  (one statement a line)

SCENES = [
    (
        "cities_db",
        "Compare population and area of the cities in our database.",
        [
            (
                "sql_query",
                {"sql": "SELECT city, population, area_km2, founded FROM cities"},
                {
                    "columns": ["city", "population", "area_km2", "founded"],
                    "rows": [
                        ["Varnholm", 482310, 187.4, 1254],
                        ["Eastmere", 1206544, 412.9, 1688],
                        ["Kolvik", 96785, 54.2, 1731],
                        ["Port Saine", 733020, 268.0, 1402],
                    ],
                },
            )
        ],
        """
restate: Eastmere has a population of 1,206,544.
restate: Kolvik covers an area of 54.2 km².
restate: Port Saine was founded in 1402.
round: About 1.2 million people live in Eastmere.
round: Varnholm has roughly 482,000 inhabitants.
convert: Varnholm's area is approximately 72.4 square miles.
sum: Together the four cities have 2,518,659 inhabitants.
count: The database contains four cities.
diff: Eastmere has 473,524 more residents than Port Saine.
derive: Varnholm's population is about five times that of Kolvik.
para: The oldest of them, Varnholm, dates from 1254, and the youngest, Kolvik, from 1731.
para: With 412.9 square kilometres, Eastmere is the largest city by area.
number: Eastmere has a population of 1,306,544.
number: Port Saine was founded in 1412.
number: Kolvik's area is 64.2 km2.
entity: Port Saine has 482,310 inhabitants.
entity: Kolvik was founded in 1688.
entity: Varnholm covers 412.9 km².
entity: The population of Eastmere is 96,785.
claim: Eastmere is a major financial centre.
claim: Kolvik attracts many tourists because of its beaches.
claim: The mayor of Varnholm was re-elected.
unit: Kolvik covers 54.2 square miles.
unit: The area of Port Saine is 268 hectares.
unit: Eastmere has an area of 412.9 m².
""",
    ),
    (
        "orders_db",
        "List the open orders of customer 7731 with their totals.",
        [
            (
                "get_orders",
                {"customer_id": 7731, "status": "open"},
                {
                    "customer": {
                        "id": 7731,
                        "name": "Mirela Donev",
                        "email": "m.donev@northbay.example",
                        "since": "2019-11-03",
                    },
                    "orders": [
                        {
                            "order_id": "A-20417",
                            "placed": "2025-04-02",
                            "items": 3,
                            "total": 184.2,
                            "currency": "USD",
                            "shipped": False,
                        },
                        {
                            "order_id": "A-20533",
                            "placed": "2025-04-09",
                            "items": 1,
                            "total": 59.99,
                            "currency": "USD",
                            "shipped": True,
                        },
                        {
                            "order_id": "A-20698",
                            "placed": "2025-04-21",
                            "items": 7,
                            "total": 412.75,
                            "currency": "USD",
                            "shipped": False,
                        },
                    ],
                },
            )
        ],
        """
restate: Order A-20417 was placed on 2025-04-02 and totals 184.20 USD.
date: The order A-20698 was placed on April 21, 2025.
count: Mirela Donev has three open orders.
sum: The three orders add up to $656.94 in total.
sum: Altogether 11 items were ordered.
para: A-20533 contains a single item for $59.99 and has been shipped.
para: She has been a customer since 3 November 2019.
para: You can reach Mirela Donev at m.donev@northbay.example.
round: The biggest order comes to about 413 dollars.
diff: Order A-20698 is $228.55 more than A-20417.
count: Two of the orders have not been shipped yet.
number: Order A-20417 totals 194.20 USD.
number: Order A-20698 contains 9 items.
number: A-20533 was placed on April 19, 2025.
entity: Order A-20533 totals $412.75.
entity: A-20698 was placed on April 2, 2025.
entity: The order A-20417 holds 7 items.
claim: Mirela Donev is a loyal and valued premium customer.
claim: Delivery is delayed by a strike at the warehouse.
claim: The invoices have already been paid by credit card.
unit: Order A-20417 totals 184.20 euros.
unit: The order A-20698 amounts to £412.75.
unit: A-20533 costs 59.99 yen.
""",
    ),
    (
        "files",
        "How large are the files in /reports and when were they changed?",
        [
            (
                "list_files",
                {"path": "/reports"},
                [
                    {
                        "name": "q1_summary.pdf",
                        "size_bytes": 2483120,
                        "modified": "2025-04-11T16:42:10Z",
                        "is_dir": False,
                    },
                    {"name": "budget.xlsx", "size_bytes": 91750, "modified": "2025-03-28T08:05:44Z", "is_dir": False},
                    {"name": "archive", "size_bytes": 0, "modified": "2024-12-30T11:20:00Z", "is_dir": True},
                    {"name": "notes.txt", "size_bytes": 4211, "modified": "2025-05-06T19:33:27Z", "is_dir": False},
                ],
            ),
            (
                "read_file",
                {"path": "/reports/notes.txt"},
                "Meeting on 12 May 2025 at 10:30 in room B204.\nAttendees: Okafor, Lindqvist, Barros.\nBudget ceiling raised to 48,500 EUR; decision expected by June.",
            ),
        ],
        """
restate: q1_summary.pdf has a size of 2483120 bytes.
convert: The summary q1_summary.pdf is about 2.48 MB large.
convert: budget.xlsx is 91.75 KB in size.
date: notes.txt was last modified on May 6, 2025 at 7:33 pm.
date: budget.xlsx was changed on Friday, 28 March 2025.
count: There are four entries in /reports, one of which is a directory.
para: According to notes.txt, the meeting takes place on May 12, 2025 at 10:30 am in room B204.
para: The budget ceiling was raised to €48,500.
para: Okafor, Lindqvist and Barros attend the meeting.
round: notes.txt is roughly 4.2 kB.
number: q1_summary.pdf has a size of 2843120 bytes.
number: notes.txt was last modified on May 16, 2025.
number: The budget ceiling was raised to 58,500 EUR.
entity: budget.xlsx was last modified on 2025-05-06.
entity: The file notes.txt is 91750 bytes in size.
entity: q1_summary.pdf was changed on 28 March 2025.
claim: The report q1_summary.pdf contains confidential salary figures.
claim: Attendees should bring printed copies.
claim: The archive was encrypted by the administrator.
unit: budget.xlsx is 91750 KB in size.
unit: notes.txt has 4211 megabytes.
unit: The budget ceiling was raised to 48,500 dollars.
""",
    ),
    (
        "company",
        "Give me the key figures of Halvorsen Marine and of Tessaro Foods.",
        [
            (
                "company_profile",
                {"name": "Halvorsen Marine"},
                {
                    "name": "Halvorsen Marine ASA",
                    "ticker": "HMAR",
                    "employees": 3412,
                    "founded": 1978,
                    "hq": {"city": "Stavanger", "country": "Norway"},
                    "financials": {"year": 2024, "revenue_musd": 812.6, "net_income_musd": 64.3, "debt_ratio": 0.41},
                },
            ),
            (
                "company_profile",
                {"name": "Tessaro Foods"},
                {
                    "name": "Tessaro Foods S.p.A.",
                    "ticker": "TSF",
                    "employees": 11870,
                    "founded": 1951,
                    "hq": {"city": "Parma", "country": "Italy"},
                    "financials": {
                        "year": 2024,
                        "revenue_musd": 2140.0,
                        "net_income_musd": 118.9,
                        "debt_ratio": 0.57,
                    },
                },
            ),
        ],
        """
restate: Halvorsen Marine ASA has 3,412 employees.
restate: Tessaro Foods was founded in 1951.
restate: Tessaro Foods is headquartered in Parma, Italy.
round: Tessaro employs nearly 12,000 people.
convert: The debt ratio of Halvorsen Marine is 41%.
para: In 2024 Halvorsen Marine, which trades as HMAR, earned a revenue of 812.6 million dollars.
para: Tessaro's net income was 118.9 million USD in 2024.
convert: Tessaro Foods had revenue of $2.14 billion.
diff: Tessaro Foods has 8,458 more employees than Halvorsen Marine.
derive: The net margin of Halvorsen Marine is around 7.9%.
sum: The two companies employ 15,282 people together.
number: Halvorsen Marine ASA has 4,412 employees.
number: Tessaro Foods was founded in 1961.
number: Halvorsen's net income was 84.3 million dollars.
entity: Halvorsen Marine was founded in 1951.
entity: Tessaro Foods has a revenue of 812.6 million USD.
entity: Halvorsen Marine has a debt ratio of 0.57.
entity: Tessaro Foods has 3,412 employees.
claim: Tessaro Foods is the market leader in pasta.
claim: Halvorsen Marine plans to expand into offshore wind.
claim: Analysts recommend buying the shares.
unit: Halvorsen Marine had revenue of 812.6 million euros.
unit: The net income of Tessaro Foods was 118.9 billion dollars.
unit: Tessaro Foods earned a revenue of 2,140 thousand dollars.
""",
    ),
    (
        "movies",
        "Tell me about the films Glass Harbour and The Ninth Lantern.",
        [
            (
                "search_movies",
                {"query": "Glass Harbour"},
                {
                    "page": 1,
                    "results": [
                        {
                            "id": 50213,
                            "title": "Glass Harbour",
                            "release_date": "2017-09-22",
                            "vote_average": 7.4,
                            "vote_count": 1856,
                            "runtime": 118,
                            "genres": ["Drama", "Mystery"],
                            "overview": "A lighthouse keeper discovers letters that tie her family to a wreck. She returns to the mainland to find their author.",
                        }
                    ],
                    "total_results": 1,
                },
            ),
            (
                "search_movies",
                {"query": "The Ninth Lantern"},
                {
                    "page": 1,
                    "results": [
                        {
                            "id": 61877,
                            "title": "The Ninth Lantern",
                            "release_date": "2021-03-05",
                            "vote_average": 6.8,
                            "vote_count": 942,
                            "runtime": 96,
                            "genres": ["Animation", "Family"],
                            "overview": "Two brothers follow a lantern through the snow to save their village.",
                        }
                    ],
                    "total_results": 1,
                },
            ),
        ],
        """
restate: Glass Harbour was released on 2017-09-22.
date: The Ninth Lantern came out on March 5, 2021.
restate: Glass Harbour has a vote average of 7.4 based on 1,856 votes.
convert: Glass Harbour runs for 1 hour and 58 minutes.
para: The Ninth Lantern is an animated family film about two brothers following a lantern through the snow.
para: In Glass Harbour a lighthouse keeper discovers letters that tie her family to a wreck.
para: The Ninth Lantern lasts 96 minutes.
diff: Glass Harbour is 22 minutes longer than The Ninth Lantern.
round: Glass Harbour is rated about 7 out of 10.
date: Glass Harbour premiered on Friday, 22 September 2017.
para: The genres of Glass Harbour are Drama and Mystery.
number: Glass Harbour has a vote average of 8.4.
number: The Ninth Lantern was released in 2019.
number: The Ninth Lantern has a runtime of 106 minutes.
entity: The Ninth Lantern has a vote average of 7.4.
entity: Glass Harbour was released on March 5, 2021.
entity: Glass Harbour runs 96 minutes.
entity: The Ninth Lantern received 1,856 votes.
claim: Glass Harbour won two Academy Awards.
claim: The Ninth Lantern stars Emma Holloway in the lead role.
claim: Critics praised the soundtrack and the photography.
unit: Glass Harbour lasts 118 hours.
unit: The Ninth Lantern has a length of 96 seconds.
unit: The runtime of Glass Harbour is 118 seconds.
""",
    ),
    (
        "football",
        "What was the result of the match and how do the two teams stand in the table?",
        [
            (
                "match",
                {"id": 4471},
                {
                    "match": {
                        "home": {"team": "Rovers United", "goals": 3, "shots": 14, "possession": 46},
                        "away": {"team": "Dalby City", "goals": 1, "shots": 19, "possession": 54},
                        "kickoff": "2025-02-15T17:30:00Z",
                        "attendance": 28417,
                        "venue": "Millfield Park",
                    }
                },
            ),
            (
                "table",
                {"league": "Northern League"},
                {
                    "standings": [
                        {"rank": 1, "team": "Orrell Town", "points": 58, "played": 25},
                        {"rank": 4, "team": "Dalby City", "points": 47, "played": 25},
                        {"rank": 9, "team": "Rovers United", "points": 33, "played": 24},
                    ]
                },
            ),
        ],
        """
restate: Rovers United scored 3 goals and Dalby City scored 1.
restate: The match was played at Millfield Park before 28,417 spectators.
para: Dalby City is fourth in the table with 47 points.
para: Rovers United, on rank 9, have 33 points from 24 games.
date: Kickoff was on 15 February 2025 at 5:30 pm UTC.
round: Around 28,000 people attended the match.
sum: Four goals were scored in total.
diff: Dalby City has 14 more points than Rovers United.
para: Dalby City had 54% of the possession and 19 shots.
diff: Rovers United won by two goals difference.
para: Orrell Town lead the league with 58 points.
number: The attendance was 38,417.
number: Dalby City has 49 points.
number: Rovers United had 17 shots.
entity: Rovers United have 47 points.
entity: Dalby City had 46% possession.
entity: Orrell Town has 33 points after its games.
entity: Rovers United had 19 shots on goal.
claim: It was the best match of the season.
claim: The striker of Dalby City was sent off.
claim: Heavy rain delayed the second half.
unit: Kickoff was at 5:30 am UTC.
unit: The attendance was 28,417 thousand.
unit: Dalby City is fourth with 47 percent.
""",
    ),
    (
        "mountains",
        "Compare the mountains Skarvtind and Monte Olvera.",
        [
            (
                "wiki_summary",
                {"title": "Skarvtind"},
                {
                    "title": "Skarvtind",
                    "extract": "Skarvtind is a mountain in Norway. It rises 1,894 metres above sea level and was first climbed on 3 August 1871 by Henrik Tangen. Its glacier covers 12.6 square kilometres. The summit is reached in about 7 hours from Lomvatn.",
                    "coordinates": {"lat": 67.412, "lon": 15.983},
                },
            ),
            (
                "wiki_summary",
                {"title": "Monte Olvera"},
                {
                    "title": "Monte Olvera",
                    "extract": "Monte Olvera is a dormant volcano in Chile with a height of 5,207 m. The first ascent was made in January 1904 by Ines Carrasco and Pedro Rojas. The last eruption took place in 1822.",
                    "coordinates": {"lat": -33.871, "lon": -69.944},
                },
            ),
        ],
        """
restate: Skarvtind rises 1,894 metres above sea level.
restate: Monte Olvera has a height of 5,207 m.
convert: Monte Olvera is about 17,083 feet high.
convert: The glacier of Skarvtind covers roughly 4.9 square miles.
date: Skarvtind was first climbed on August 3, 1871.
para: The first to climb Skarvtind was Henrik Tangen.
para: Monte Olvera, a dormant volcano in Chile, last erupted in 1822.
diff: Monte Olvera is 3,313 metres higher than Skarvtind.
round: Skarvtind is approximately 1.9 km tall.
para: From Lomvatn it takes about seven hours to reach the summit of Skarvtind.
number: Skarvtind rises 1,984 metres above sea level.
number: Monte Olvera last erupted in 1832.
number: The glacier of Skarvtind covers 16.2 square kilometres.
entity: Skarvtind has a height of 5,207 m.
entity: Monte Olvera was first climbed on 3 August 1871.
entity: Monte Olvera rises 1,894 m above sea level.
claim: Skarvtind is the most difficult climb in Norway.
claim: Climbing Monte Olvera requires a permit and a guide.
claim: The views from the top are breathtaking.
unit: Skarvtind rises 1,894 feet above sea level.
unit: The summit of Skarvtind is reached in 7 days.
unit: Monte Olvera has a height of 5,207 km.
""",
    ),
    (
        "staff",
        "Who works in the Ghent office, and what do the three engineers earn?",
        [
            (
                "employees",
                {"office": "Ghent"},
                {
                    "employees": {
                        "e-101": {
                            "name": "Noor Willems",
                            "role": "Engineer",
                            "salary_eur": 61400,
                            "age": 34,
                            "remote": True,
                            "hired": "2018-02-12",
                        },
                        "e-117": {
                            "name": "Tomas Havel",
                            "role": "Engineer",
                            "salary_eur": 57250,
                            "age": 29,
                            "remote": False,
                            "hired": "2021-09-01",
                        },
                        "e-125": {
                            "name": "Aisha Rahmani",
                            "role": "Engineer",
                            "salary_eur": 72900,
                            "age": 46,
                            "remote": False,
                            "hired": "2012-05-21",
                        },
                        "e-140": {
                            "name": "Piet Dumont",
                            "role": "Office manager",
                            "salary_eur": 49800,
                            "age": 52,
                            "remote": False,
                            "hired": "2009-10-05",
                        },
                    }
                },
            )
        ],
        """
restate: Noor Willems earns 61,400 EUR.
restate: Tomas Havel is 29 years old.
date: Aisha Rahmani was hired on May 21, 2012.
para: Piet Dumont works as the office manager and has been there since October 2009.
count: Three engineers work in the Ghent office.
count: The office has four employees.
sum: The three engineers earn €191,550 in total.
diff: Aisha Rahmani earns 11,500 euros more than Noor Willems.
average: The average salary of the four is 60,337.50 EUR.
round: Tomas Havel has a salary of about 57,000 euros.
para: Noor Willems works remotely.
number: Noor Willems earns 64,400 EUR.
number: Tomas Havel is 39 years old.
number: Aisha Rahmani was hired on May 21, 2015.
entity: Tomas Havel earns 72,900 EUR.
entity: Piet Dumont is 34 years old.
entity: Noor Willems was hired on September 1, 2021.
entity: Aisha Rahmani has a salary of 57,250 euros.
claim: Aisha Rahmani leads the team and is very experienced with Python.
claim: Tomas Havel studied in Prague.
claim: Salaries in Ghent are competitive.
unit: Noor Willems earns 61,400 dollars.
unit: Tomas Havel is 29 months old.
unit: Aisha Rahmani has a salary of 72,900 pounds.
""",
    ),
]
