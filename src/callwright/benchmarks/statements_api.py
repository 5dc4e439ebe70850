"""Planted statements, part 3: replies shaped as real web APIs shape them: wrapped, nested, double-encoded, chatty."""

# ruff: noqa: E501  (one statement a line)

SCENES = [
    (
        "parcel",
        "Where is my parcel ZX4471920DE and is the tracking service healthy?",
        [
            (
                "health_for_parcelwatch",
                {},
                {"error": "", "response": "{'status': 'UP', 'checks': [], 'version': '4.12.0'}"},
            ),
            (
                "track_for_parcelwatch",
                {"tracking_id": "ZX4471920DE"},
                {
                    "error": "",
                    "response": '{"status": "success", "data": {"id": "ZX4471920DE", "carrier": "Nordpost", "weight_kg": 2.35, "events": [{"time": "2025-01-20T08:14:00Z", "status": "booked", "location": "Rotterdam"}, {"time": "2025-01-21T19:52:00Z", "status": "in transit", "location": "Hamburg"}, {"time": "2025-01-23T06:30:00Z", "status": "out for delivery", "location": "Aarhus"}]}}',
                },
            ),
        ],
        """
restate: The parcel ZX4471920DE is handled by Nordpost and weighs 2.35 kg.
date: It was booked in Rotterdam on January 20, 2025.
date: On 23 January at 6:30 am UTC it was out for delivery in Aarhus.
para: The tracking service is up and running version 4.12.0.
para: On January 21 the parcel was in transit in Hamburg.
count: The tracking history has three events.
convert: The parcel weighs about 5.2 pounds.
convert: The weight is 2350 g.
diff: Between the booking in Rotterdam and the delivery run in Aarhus lie about 70 hours.
para: According to Nordpost, your package has reached Aarhus.
round: The parcel weighs roughly 2.4 kilograms.
number: The parcel weighs 3.35 kg.
number: It was booked in Rotterdam on January 10, 2025.
number: The tracking service runs version 4.21.0.
entity: The parcel was in Hamburg on 20 January 2025.
entity: It has been out for delivery in Aarhus since 08:14.
entity: On January 23 the parcel was in Rotterdam.
claim: The parcel was delivered to your neighbour.
claim: The driver will call you before he arrives.
claim: A customs inspection caused the late arrival.
unit: The parcel weighs 2.35 pounds.
unit: The weight of the package is 2.35 g.
unit: It weighs 2.35 tonnes.
""",
    ),
    (
        "crypto",
        "What are the prices and 24h changes of Solenium and Arcoin?",
        [
            (
                "coins_markets",
                {"vs_currency": "usd", "ids": "solenium,arcoin"},
                [
                    {
                        "id": "solenium",
                        "symbol": "sol3",
                        "name": "Solenium",
                        "current_price": 41.87,
                        "market_cap": 5283914022,
                        "market_cap_rank": 38,
                        "price_change_percentage_24h": -3.214,
                        "high_24h": 43.6,
                        "low_24h": 41.02,
                        "circulating_supply": 126200000,
                        "last_updated": "2025-03-01T12:00:04.120Z",
                    },
                    {
                        "id": "arcoin",
                        "symbol": "arc",
                        "name": "Arcoin",
                        "current_price": 0.7312,
                        "market_cap": 918440310,
                        "market_cap_rank": 97,
                        "price_change_percentage_24h": 5.871,
                        "high_24h": 0.7488,
                        "low_24h": 0.6854,
                        "circulating_supply": 1256000000,
                        "last_updated": "2025-03-01T12:00:07.482Z",
                    },
                ],
            )
        ],
        """
restate: Solenium currently trades at 41.87 USD.
restate: Arcoin has a market cap rank of 97.
round: The market capitalisation of Solenium is about $5.28 billion.
round: Arcoin gained 5.9% over the last 24 hours.
para: Solenium fell by 3.2 percent in 24 hours.
para: Over the day, Arcoin moved between a low of 0.6854 and a high of 0.7488.
para: Roughly 126 million Solenium are in circulation.
diff: The gap between the daily high and low of Solenium is 2.58 dollars.
date: The data was last updated on March 1, 2025 at noon.
count: Two coins were returned.
restate: The symbol of Arcoin is arc.
number: Solenium currently trades at 48.17 USD.
number: Arcoin has a market cap rank of 87.
number: Arcoin gained 8.9% over the last 24 hours.
entity: Arcoin has a market cap of about 5.28 billion dollars.
entity: Solenium is ranked 97 by market cap.
entity: Arcoin's price is 41.87 dollars.
entity: Solenium rose by 5.87% in the last 24 hours.
claim: Solenium is a safe long-term investment.
claim: Arcoin was listed on a further exchange yesterday.
claim: Experts predict a rally for both coins.
unit: Solenium trades at 41.87 euros.
unit: The market cap of Arcoin is 918 billion USD.
unit: The price of Arcoin is €0.7312.
""",
    ),
    (
        "repos",
        "Compare the repositories tallow and gridmesh of the organisation quarry-labs.",
        [
            (
                "get_repo",
                {"owner": "quarry-labs", "repo": "tallow"},
                {
                    "id": 55120937,
                    "full_name": "quarry-labs/tallow",
                    "private": False,
                    "description": "A tiny task runner",
                    "fork": False,
                    "created_at": "2019-06-17T09:21:33Z",
                    "pushed_at": "2025-02-24T14:03:51Z",
                    "size": 3120,
                    "stargazers_count": 4183,
                    "forks_count": 267,
                    "open_issues_count": 41,
                    "license": {"spdx_id": "MIT"},
                    "language": "Go",
                    "archived": False,
                },
            ),
            (
                "get_repo",
                {"owner": "quarry-labs", "repo": "gridmesh"},
                {
                    "id": 81233410,
                    "full_name": "quarry-labs/gridmesh",
                    "private": False,
                    "description": "Mesh networking for sensors",
                    "fork": False,
                    "created_at": "2021-01-08T18:40:02Z",
                    "pushed_at": "2023-11-30T07:15:29Z",
                    "size": 18844,
                    "stargazers_count": 912,
                    "forks_count": 118,
                    "open_issues_count": 7,
                    "license": {"spdx_id": "Apache-2.0"},
                    "language": "Rust",
                    "archived": True,
                },
            ),
        ],
        """
restate: The repository tallow has 4,183 stars and 267 forks.
restate: gridmesh is written in Rust and licensed under Apache-2.0.
date: tallow was created on June 17, 2019.
date: The last push to gridmesh was on 30 November 2023.
para: tallow, a tiny task runner, is written in Go.
round: gridmesh has about 900 stars.
diff: tallow has 34 more open issues than gridmesh.
sum: Together they have 385 forks.
para: gridmesh is archived, tallow is not.
count: Both repositories, two in number, are public.
derive: tallow has about 4.6 times as many stars as gridmesh.
number: The repository tallow has 4,813 stars.
number: gridmesh has 138 forks.
number: tallow was created on June 27, 2019.
entity: gridmesh has 41 open issues.
entity: tallow was created in January 2021.
entity: The repository tallow has 118 forks.
entity: gridmesh has 4,183 stars.
claim: tallow has excellent documentation and an active community.
claim: gridmesh was abandoned because its maintainers left the company.
claim: Both projects are used by large enterprises in production.
unit: tallow was created on June 17, 1919.
unit: gridmesh has 912 thousand stars.
unit: The tallow repository has 41 percent open issues.
""",
    ),
    (
        "recipes",
        "Find me a recipe for lentil soup and one for apple strudel with times and calories.",
        [
            (
                "recipe_search",
                {"q": "lentil soup"},
                {
                    "count": 1,
                    "hits": [
                        {
                            "recipe": {
                                "label": "Red Lentil Soup",
                                "yield": 4,
                                "calories": 1284.6,
                                "totalTime": 35,
                                "timeUnit": "minutes",
                                "ingredients": [
                                    {"text": "300 g red lentils", "food": "red lentils"},
                                    {"text": "1 onion", "food": "onion"},
                                    {"text": "2 carrots", "food": "carrots"},
                                    {"text": "1.2 l vegetable stock", "food": "vegetable stock"},
                                ],
                                "cuisineType": ["middle eastern"],
                            }
                        }
                    ],
                },
            ),
            (
                "recipe_search",
                {"q": "apple strudel"},
                {
                    "count": 1,
                    "hits": [
                        {
                            "recipe": {
                                "label": "Apple Strudel",
                                "yield": 6,
                                "calories": 2317.2,
                                "totalTime": 90,
                                "timeUnit": "minutes",
                                "ingredients": [
                                    {"text": "250 g flour", "food": "flour"},
                                    {"text": "1 kg apples", "food": "apples"},
                                    {"text": "80 g raisins", "food": "raisins"},
                                ],
                                "cuisineType": ["austrian"],
                            }
                        }
                    ],
                },
            ),
        ],
        """
restate: The Red Lentil Soup takes 35 minutes and serves 4.
restate: For the Apple Strudel you need 250 g flour, 1 kg apples and 80 g raisins.
convert: Apple Strudel takes an hour and 30 minutes.
round: The soup has about 1,285 calories in total.
derive: One portion of the lentil soup has roughly 321 calories.
count: The soup calls for four ingredients.
para: The Austrian apple strudel yields six portions.
para: You need 300 grams of red lentils, an onion, 2 carrots and 1.2 litres of vegetable stock.
diff: The strudel takes 55 minutes longer than the soup.
convert: The strudel requires 1000 g of apples.
sum: Both dishes together take 125 minutes.
number: The Red Lentil Soup takes 45 minutes.
number: Apple Strudel has 2,713.2 calories.
number: For the soup you need 500 g red lentils.
entity: The lentil soup takes 90 minutes.
entity: The Apple Strudel serves 4 people.
entity: Red Lentil Soup has 2,317 calories.
claim: The soup tastes best with a squeeze of lemon.
claim: Strudel is very healthy and suitable for vegans.
claim: Serve it with vanilla ice cream on a warm plate.
unit: The soup takes 35 hours.
unit: You need 300 kg of red lentils.
unit: The strudel requires 80 ounces of raisins.
""",
    ),
    (
        "asn",
        "Which networks belong to Iceland, and what is known of host 198.51.100.77?",
        [
            (
                "asn_by_country",
                {"country_code": "IS"},
                {
                    "error": "",
                    "response": [
                        {
                            "asn": 60411,
                            "organization": "FJORDNET-AS",
                            "ip_from": "203.0.113.0",
                            "ip_to": "203.0.113.127",
                            "count": 128,
                        },
                        {
                            "asn": 44925,
                            "organization": "HEKLA-HOSTING",
                            "ip_from": "198.51.100.0",
                            "ip_to": "198.51.100.255",
                            "count": 256,
                        },
                    ],
                },
            ),
            (
                "ip_lookup",
                {"ip": "198.51.100.77"},
                {
                    "ip": "198.51.100.77",
                    "asn": 44925,
                    "city": "Akureyri",
                    "abuse_score": 12,
                    "reports": 3,
                    "last_reported": "2024-10-19",
                    "is_tor": False,
                    "usage_type": "Data Center",
                    "latency_ms": 48.3,
                },
            ),
        ],
        """
restate: The host 198.51.100.77 belongs to AS 44925 and is located in Akureyri.
restate: FJORDNET-AS has the ASN 60411.
para: HEKLA-HOSTING ranges from 198.51.100.0 to 198.51.100.255.
count: Two networks belong to Iceland.
date: The host was last reported on October 19, 2024.
para: The address is not a Tor node.
para: Its abuse score is 12, resulting from three reports.
sum: The two networks hold 384 addresses in all.
round: The latency of the host is about 48 ms.
convert: The latency is 0.0483 seconds.
diff: HEKLA-HOSTING has 128 more addresses than FJORDNET-AS.
number: FJORDNET-AS has the ASN 60141.
number: The abuse score of the host is 72.
number: The host was last reported on November 19, 2024.
entity: FJORDNET-AS ranges from 198.51.100.0 to 198.51.100.255.
entity: HEKLA-HOSTING has the ASN 60411.
entity: FJORDNET-AS comprises 256 addresses.
claim: The host is known for sending spam mails.
claim: HEKLA-HOSTING operates a green data center powered by geothermal energy.
claim: The operator was notified and replied politely.
unit: The latency of the host is 48.3 seconds.
unit: The host answers within 48.3 minutes.
unit: The latency amounts to 48.3 hours.
""",
    ),
    (
        "cars",
        "Decode the VINs YV1ABC2345X100200 and WDD9876543A654321 for me.",
        [
            (
                "vin_decode",
                {"vin": "YV1ABC2345X100200"},
                {
                    "success": True,
                    "specification": {
                        "vin": "YV1ABC2345X100200",
                        "make": "Varga",
                        "model": "Estate 220",
                        "year": "2016",
                        "engine": "2.0L I4",
                        "power_kw": 140,
                        "fuel": "Diesel",
                        "steering": "Left",
                        "weight_kg": 1685,
                        "top_speed_kmh": 215,
                        "tank_l": 60,
                    },
                },
            ),
            (
                "vin_decode",
                {"vin": "WDD9876543A654321"},
                {
                    "success": True,
                    "specification": {
                        "vin": "WDD9876543A654321",
                        "make": "Dornfeld",
                        "model": "Roadster S",
                        "year": "2019",
                        "engine": "3.0L V6",
                        "power_kw": 270,
                        "fuel": "Petrol",
                        "steering": "Right",
                        "weight_kg": 1540,
                        "top_speed_kmh": 268,
                        "tank_l": 55,
                    },
                },
            ),
        ],
        """
restate: The VIN YV1ABC2345X100200 belongs to a Varga Estate 220 from 2016.
restate: The Dornfeld Roadster S has a power of 270 kW.
convert: The Roadster S has about 367 PS.
convert: The Varga's top speed of 215 km/h corresponds to about 134 mph.
para: The Varga runs on diesel and has its steering on the left.
para: The Dornfeld is fitted with a 3.0L V6 petrol engine.
diff: The Estate 220 is 145 kg heavier than the Roadster S.
convert: The Varga weighs 1.685 tonnes.
para: Its fuel tank takes 60 litres in the case of the Varga Estate.
count: Two vehicles were decoded.
diff: The Dornfeld is three years newer than the Varga.
number: The Dornfeld Roadster S has a power of 290 kW.
number: The Varga Estate 220 was built in 2014.
number: The Varga weighs 1,865 kg.
entity: The Varga Estate 220 has a top speed of 268 km/h.
entity: The Dornfeld Roadster S weighs 1685 kg.
entity: The Dornfeld dates from 2016.
entity: The tank of the Varga holds 55 litres.
claim: The Roadster S had two previous owners and no accidents.
claim: The Varga is very economical on long trips.
claim: A recall for the airbags was issued.
unit: The Varga has a top speed of 215 mph.
unit: The Dornfeld Roadster S has 270 hp.
unit: The Estate 220 weighs 1,685 pounds.
""",
    ),
]
