"""Planted statements, part 1: places, journeys, weather, holidays, money. All values are made up for the purpose."""

SCENES = [
    (
        "airports",
        "How far is it from Lisbon to Tallinn by air, and how high up are the two airports?",
        [
            (
                "airport_info",
                {"iata": "LIS"},
                {
                    "iata": "LIS",
                    "name": "Humberto Delgado Airport",
                    "city": "Lisbon",
                    "country": "Portugal",
                    "elevation_ft": 374,
                    "runways": 2,
                    "latitude": 38.7813,
                    "longitude": -9.1359,
                },
            ),
            (
                "airport_info",
                {"iata": "TLL"},
                {
                    "iata": "TLL",
                    "name": "Lennart Meri Airport",
                    "city": "Tallinn",
                    "country": "Estonia",
                    "elevation_ft": 131,
                    "runways": 1,
                    "latitude": 59.4133,
                    "longitude": 24.8328,
                },
            ),
            ("distance", {"from": "LIS", "to": "TLL"}, {"from": "LIS", "to": "TLL", "distance_km": 3324.6}),
        ],
        """
restate: Humberto Delgado Airport (LIS) stands at an elevation of 374 ft.
restate: The airport of Tallinn, Lennart Meri, has 1 runway.
restate: The distance between LIS and TLL is 3324.6 km.
round: Lisbon and Tallinn are about 3,325 kilometres apart by air.
round: From LIS to TLL it is roughly 3,300 km.
convert: The flight distance comes to approximately 2,066 miles.
convert: Lisbon's airport lies about 114 metres above sea level.
convert: Tallinn airport is at 40 m, i.e. 131 feet.
para: In Tallinn the airfield is 131 feet high, whereas the one in Lisbon is at 374 feet.
para: LIS can be found at latitude 38.78 and longitude -9.14.
sum: The two airports have three runways between them in total.
diff: Lisbon's airport is 243 feet higher than that of Tallinn.
number: The distance between LIS and TLL is 3524.6 km.
number: Lennart Meri Airport has an elevation of 181 ft.
number: Based on the results, Lisbon airport has 4 runways.
entity: Tallinn's airport is located at an elevation of 374 feet.
entity: Humberto Delgado Airport in Lisbon has an elevation of 131 ft.
entity: The latitude of LIS is 59.4133.
claim: Lisbon airport is the busiest airport in Portugal.
claim: Tallinn airport is small but very modern.
claim: There are several direct flights every day with TAP.
unit: The distance between LIS and TLL is 3324.6 miles.
unit: Lisbon's airport has an elevation of 374 metres.
unit: Lennart Meri Airport sits at 131 m above sea level.
""",
    ),
    (
        "flights",
        "Which flights go from Vienna to Oslo on 14 March 2025 and what do they cost?",
        [
            (
                "search_flights",
                {"origin": "VIE", "destination": "OSL", "date": "2025-03-14"},
                {
                    "currency": "EUR",
                    "flights": [
                        {
                            "flight": "OS335",
                            "airline": "Austrian",
                            "departure": "2025-03-14T10:05:00+01:00",
                            "arrival": "2025-03-14T12:25:00+01:00",
                            "duration_min": 140,
                            "stops": 0,
                            "price": 189.9,
                            "refundable": False,
                        },
                        {
                            "flight": "SK1484",
                            "airline": "SAS",
                            "departure": "2025-03-14T13:40:00+01:00",
                            "arrival": "2025-03-14T18:15:00+01:00",
                            "duration_min": 275,
                            "stops": 1,
                            "price": 142.5,
                            "refundable": True,
                        },
                        {
                            "flight": "LH1237",
                            "airline": "Lufthansa",
                            "departure": "2025-03-14T06:50:00+01:00",
                            "arrival": "2025-03-14T11:10:00+01:00",
                            "duration_min": 260,
                            "stops": 1,
                            "price": 164.0,
                            "refundable": False,
                        },
                    ],
                },
            )
        ],
        """
restate: Flight OS335 with Austrian costs 189.90 EUR.
restate: SK1484 departs at 13:40 and arrives at 18:15.
date: OS335 leaves Vienna on Friday, March 14, 2025 at 10:05 am.
date: The Lufthansa flight gets in at 11:10 AM on 14 March 2025.
convert: The trip with OS335 takes 2 hours and 20 minutes.
convert: LH1237 has a duration of 4h 20m with one stop.
round: The SAS flight is about €143.
count: I found three flights from Vienna to Oslo.
para: The cheapest option is SK1484 at 142.50 euros.
para: If you take the SAS connection at 13:40 you will be in Oslo by 6:15 pm.
diff: OS335 is 47.40 EUR more expensive than SK1484.
diff: The Austrian flight is 135 minutes shorter than the SAS one.
number: Flight OS335 with Austrian costs 198.90 EUR.
number: The Lufthansa flight LH1237 departs at 07:50.
number: SK1484 takes 295 minutes in total.
entity: The Lufthansa flight costs 189.90 EUR.
entity: SK1484 departs from Vienna at 06:50.
entity: OS335 takes 275 minutes with its stop.
entity: The flight operated by SAS arrives at 12:25.
claim: All of the flights include a free meal on board.
claim: Austrian is known for excellent punctuality.
claim: Tickets on this route are usually cheap in spring.
unit: Flight LH1237 lasts 260 hours.
unit: OS335 costs $189.90.
unit: The SAS ticket is priced at 142.50 British pounds.
""",
    ),
    (
        "timezones",
        "I have a call at 15:00 in Lima. What time is it in Nairobi and in Adelaide?",
        [
            (
                "time_zone",
                {"city": "Lima"},
                {
                    "city": "Lima",
                    "timezone": "America/Lima",
                    "utc_offset": "-05:00",
                    "dst": False,
                    "sunrise": "06:12",
                    "sunset": "18:21",
                },
            ),
            (
                "time_zone",
                {"city": "Nairobi"},
                {
                    "city": "Nairobi",
                    "timezone": "Africa/Nairobi",
                    "utc_offset": "+03:00",
                    "dst": False,
                    "sunrise": "06:27",
                    "sunset": "18:35",
                },
            ),
            (
                "time_zone",
                {"city": "Adelaide"},
                {
                    "city": "Adelaide",
                    "timezone": "Australia/Adelaide",
                    "utc_offset": "+10:30",
                    "dst": True,
                    "sunrise": "07:04",
                    "sunset": "19:40",
                },
            ),
            (
                "convert_time",
                {"time": "15:00", "from": "America/Lima", "to": "Africa/Nairobi"},
                {"time": "23:00", "day_shift": 0},
            ),
            (
                "convert_time",
                {"time": "15:00", "from": "America/Lima", "to": "Australia/Adelaide"},
                {"time": "06:30", "day_shift": 1},
            ),
        ],
        """
restate: 15:00 in Lima is 23:00 in Nairobi.
restate: Adelaide is in the time zone Australia/Adelaide with an offset of +10:30.
date: When it is 3 pm in Lima, it is 11 pm in Nairobi.
date: In Adelaide your call would be at 6:30 am the next day.
restate: The sun rises at 06:27 in Nairobi.
para: In Lima the sun goes down at 18:21.
date: Sunset in Adelaide is at 7:40 pm.
para: Adelaide currently observes daylight saving time, Lima does not.
convert: Lima has 12 hours and 9 minutes of daylight.
diff: Nairobi is 8 hours ahead of Lima.
count: The results cover 3 cities.
number: 15:00 in Lima corresponds to 22:00 in Nairobi.
number: The sun rises at 06:47 in Nairobi.
number: In Adelaide, sunset is at 19:10.
entity: In Nairobi it is 06:30 when your call starts.
entity: The sun sets at 18:35 in Lima.
entity: Adelaide has a UTC offset of +03:00.
entity: Sunrise in Lima is at 07:04.
claim: Nairobi is a vibrant and friendly city.
claim: This is an inconvenient hour for business calls.
claim: Lima never had daylight saving because it lies near the equator.
unit: Nairobi is 8 minutes ahead of Lima.
unit: 15:00 in Lima is 11 am in Nairobi.
unit: In Adelaide the call would take place at 6:30 pm.
""",
    ),
    (
        "weather",
        "What will the weather be like in Bergen over the next four days?",
        [
            (
                "forecast",
                {"city": "Bergen", "days": 4, "units": "metric"},
                {
                    "location": {"name": "Bergen", "country": "Norway", "tz": "Europe/Oslo"},
                    "days": [
                        {
                            "date": "2025-06-02",
                            "condition": "rain",
                            "temp_max_c": 13.2,
                            "temp_min_c": 7.9,
                            "wind_kmh": 31,
                            "humidity": 88,
                            "precip_mm": 12.4,
                        },
                        {
                            "date": "2025-06-03",
                            "condition": "cloudy",
                            "temp_max_c": 15.8,
                            "temp_min_c": 8.6,
                            "wind_kmh": 18,
                            "humidity": 74,
                            "precip_mm": 0.6,
                        },
                        {
                            "date": "2025-06-04",
                            "condition": "sunny",
                            "temp_max_c": 19.1,
                            "temp_min_c": 9.3,
                            "wind_kmh": 11,
                            "humidity": 61,
                            "precip_mm": 0.0,
                        },
                        {
                            "date": "2025-06-05",
                            "condition": "sunny",
                            "temp_max_c": 21.4,
                            "temp_min_c": 11.7,
                            "wind_kmh": 9,
                            "humidity": 57,
                            "precip_mm": 0.0,
                        },
                    ],
                },
            )
        ],
        """
restate: On 2025-06-02 it will rain in Bergen with a maximum of 13.2 °C.
date: On Wednesday, June 4, the high will be 19.1 degrees.
date: June 5th: sunny, 21.4°C, wind 9 km/h.
round: On 3 June the temperature climbs to about 16 degrees Celsius.
convert: The warmest day reaches around 70.5 °F.
convert: Monday's wind of 31 km/h is roughly 19 mph.
count: Two of the four days are sunny.
sum: In total 13 mm of precipitation are expected.
average: The average maximum is 17.4 °C over the four days.
para: The lowest temperature of the period, 7.9°C, is forecast for the first day.
para: Humidity drops from 88% on June 2 to 57% on June 5.
diff: It will be 8.2 degrees warmer on June 5 than on June 2.
number: On June 4 the high will be 17.1 degrees.
number: The wind on 2025-06-02 blows at 41 km/h.
number: On June 3 there will be 2.6 mm of precipitation.
entity: On June 3 the temperature rises to 21.4 °C.
entity: The humidity on 5 June is 88%.
entity: On 2025-06-04 there will be 12.4 mm of rain.
entity: Monday, June 2: a maximum of 19.1 degrees and a wind of 11 km/h.
claim: Snow and thunderstorms are possible in the mountains.
claim: Bergen is famous for its fish market.
claim: It is an ideal week for hiking and swimming.
unit: On June 5 the maximum will be 21.4 °F.
unit: On June 2 the wind reaches 31 m/s.
unit: 12.4 cm of rain are expected on June 2.
""",
    ),
    (
        "holidays",
        "Which public holidays does Slovenia have in May and June 2026, and Croatia?",
        [
            (
                "public_holidays",
                {"country": "SI", "year": 2026},
                [
                    {"date": "2026-05-01", "name": "Labour Day", "local_name": "praznik dela"},
                    {"date": "2026-05-02", "name": "Labour Day (second day)", "local_name": "praznik dela"},
                    {"date": "2026-06-25", "name": "Statehood Day", "local_name": "dan državnosti"},
                ],
            ),
            (
                "public_holidays",
                {"country": "HR", "year": 2026},
                [
                    {"date": "2026-05-01", "name": "Labour Day", "local_name": "Praznik rada"},
                    {"date": "2026-05-30", "name": "National Day", "local_name": "Dan državnosti"},
                    {"date": "2026-06-04", "name": "Corpus Christi", "local_name": "Tijelovo"},
                    {
                        "date": "2026-06-22",
                        "name": "Anti-Fascist Struggle Day",
                        "local_name": "Dan antifašističke borbe",
                    },
                ],
            ),
        ],
        """
restate: Statehood Day is on 2026-06-25.
date: Corpus Christi falls on June 4, 2026.
date: Croatia celebrates its National Day on Saturday, 30 May 2026.
date: Labour Day is on Friday, May 1st.
count: There are 4 holidays listed for HR and 3 for SI.
para: Anti-Fascist Struggle Day, locally Dan antifašističke borbe, is observed on 22 June.
para: The second day of Labour Day is May 2.
date: Corpus Christi is on a Thursday.
diff: Between Corpus Christi and Anti-Fascist Struggle Day there are 18 days.
para: In Slovenia, Statehood Day (dan državnosti) takes place on the 25th of June 2026.
sum: Altogether the two countries list seven holidays.
number: Statehood Day is on 2026-06-27.
number: Corpus Christi falls on June 14, 2026.
number: Croatia's National Day is celebrated on 31 May 2026.
entity: Statehood Day is celebrated on June 22, 2026.
entity: Corpus Christi is on 30 May 2026.
entity: Anti-Fascist Struggle Day is observed on June 4.
claim: Most shops and restaurants are closed on these days.
claim: Employees receive double wages on Labour Day.
claim: The second day was abolished during the austerity crisis.
unit: Between Corpus Christi and Anti-Fascist Struggle Day there are 18 weeks.
unit: Labour Day falls on Monday, May 1, 2026.
unit: Corpus Christi is on a Sunday.
""",
    ),
    (
        "currency",
        "How much are 250 Swiss francs in euros, pounds and Japanese yen?",
        [
            (
                "rates",
                {"base": "CHF", "date": "2025-02-07"},
                {
                    "base": "CHF",
                    "date": "2025-02-07",
                    "rates": {"EUR": 1.0642, "GBP": 0.8861, "JPY": 166.93, "USD": 1.0991},
                },
            ),
            (
                "convert",
                {"amount": 250, "from": "CHF", "to": "EUR"},
                {"amount": 250, "from": "CHF", "to": "EUR", "result": 266.05},
            ),
            (
                "convert",
                {"amount": 250, "from": "CHF", "to": "GBP"},
                {"amount": 250, "from": "CHF", "to": "GBP", "result": 221.53},
            ),
        ],
        """
restate: 250 CHF are 266.05 EUR.
restate: 250 Swiss francs equal 221.53 British pounds.
restate: The exchange rate from CHF to USD is 1.0991.
derive: 250 CHF would be worth about 41,732.50 JPY.
derive: For 250 Swiss francs you get roughly 274.78 US dollars.
round: One Swiss franc buys about 1.06 euros.
round: You would receive around £222.
date: The rates are those of 7 February 2025.
para: At a rate of 166.93 yen per franc, the pound amount aside, you have what you asked for.
para: Converted to pounds, your 250 francs come to 221.53 GBP.
count: The table holds four rates.
number: 250 CHF are 286.05 EUR.
number: The exchange rate from CHF to USD is 1.0911.
number: 250 Swiss francs equal 231.53 British pounds.
entity: 250 CHF are 266.05 GBP.
entity: One franc is worth 0.8861 euros.
entity: The rate for the US dollar is 1.0642.
entity: 250 francs give you 221.53 EUR.
claim: The Swiss franc is the strongest currency in Europe.
claim: Exchange offices charge a hefty commission.
claim: The pound has been declining for months.
unit: One Swiss franc costs 166.93 euros.
unit: 250 CHF are 266.05 US dollars.
unit: You get 221.53 yen for 250 francs.
""",
    ),
    (
        "hotels",
        "Find hotels in Porto for 3 nights from 10 October 2025 for two guests.",
        [
            (
                "hotel_search",
                {"city": "Porto", "check_in": "2025-10-10", "check_out": "2025-10-13", "guests": 2},
                {
                    "status": True,
                    "data": {
                        "hotels": [
                            {
                                "hotel_id": 88121,
                                "property": {
                                    "name": "Casa do Rio",
                                    "reviewScore": 8.7,
                                    "reviewCount": 1243,
                                    "priceBreakdown": {"grossPrice": {"value": 412.5, "currency": "EUR"}},
                                    "checkin": {"fromTime": "15:00", "untilTime": "23:00"},
                                },
                                "distance_center_m": 850,
                            },
                            {
                                "hotel_id": 90417,
                                "property": {
                                    "name": "Hotel Aliados Norte",
                                    "reviewScore": 7.9,
                                    "reviewCount": 388,
                                    "priceBreakdown": {"grossPrice": {"value": 297.0, "currency": "EUR"}},
                                    "checkin": {"fromTime": "14:00", "untilTime": "00:00"},
                                },
                                "distance_center_m": 200,
                            },
                            {
                                "hotel_id": 77302,
                                "property": {
                                    "name": "Ribeira Suites",
                                    "reviewScore": 9.2,
                                    "reviewCount": 2076,
                                    "priceBreakdown": {"grossPrice": {"value": 561.0, "currency": "EUR"}},
                                    "checkin": {"fromTime": "16:00", "untilTime": "22:00"},
                                },
                                "distance_center_m": 1100,
                            },
                        ]
                    },
                },
            )
        ],
        """
restate: Casa do Rio costs 412.50 EUR for the stay.
restate: Ribeira Suites has a review score of 9.2 from 2,076 reviews.
convert: Ribeira Suites is 1.1 km from the centre.
convert: Hotel Aliados Norte is only 0.2 kilometres from the center.
derive: Casa do Rio works out at 137.50 EUR per night.
count: Three hotels were found in Porto.
date: Check-in at Hotel Aliados Norte starts at 2 pm.
para: With a rating of 8.7, Casa do Rio lies 850 metres away from the centre.
para: The cheapest of the three is Hotel Aliados Norte with a gross price of €297.
diff: Ribeira Suites is 264 euros dearer than Hotel Aliados Norte.
date: Your stay runs from October 10 to October 13, 2025.
average: The average price is 423.50 EUR.
number: Casa do Rio costs 421.50 EUR for the stay.
number: Hotel Aliados Norte has 588 reviews.
number: Check-in at Ribeira Suites is possible from 17:00.
entity: Hotel Aliados Norte has a review score of 9.2.
entity: Ribeira Suites costs €297.00.
entity: Casa do Rio is 1100 m from the centre.
entity: Check-in at Casa do Rio starts at 14:00.
claim: Breakfast is included at Ribeira Suites.
claim: Casa do Rio has a rooftop pool and a spa.
claim: Hotel Aliados Norte was recently renovated and the staff is friendly.
unit: Casa do Rio is 850 km from the centre.
unit: Ribeira Suites costs 561 dollars.
unit: Hotel Aliados Norte is 200 miles from the centre.
""",
    ),
    (
        "trains",
        "When are the next trains from Utrecht to Groningen, and from which platform?",
        [
            (
                "departures",
                {"station": "Utrecht Centraal", "direction": "Groningen"},
                "Departures from Utrecht Centraal towards Groningen\n"
                "IC 523  dep 09:18  arr 11:13  platform 7   on time\n"
                "IC 727  dep 09:48  arr 11:43  platform 14  delayed 6 min\n"
                "SPR 9041  dep 10:02  arr 12:41  platform 5   on time\n"
                "Single fare 2nd class: 29.30 EUR, 1st class: 49.81 EUR",
            )
        ],
        """
restate: IC 523 departs at 09:18 from platform 7.
restate: The single fare in 2nd class is 29.30 EUR.
date: The SPR 9041 arrives at 12:41 pm.
para: IC 727 has a delay of six minutes and leaves from platform 14.
para: First class costs 49.81 euros.
para: The next Intercity, IC 523, is on time and reaches Groningen at 11:13.
diff: First class is 20.51 EUR more than second class.
round: A 2nd class single costs about €29.
count: There are three departures towards Groningen.
convert: IC 523 needs 1 h 55 min.
number: IC 523 departs at 09:28 from platform 7.
number: The single fare in 2nd class is 39.30 EUR.
number: SPR 9041 arrives at 12:51.
entity: IC 727 leaves from platform 5.
entity: IC 523 arrives at 12:41.
entity: 1st class costs 29.30 EUR.
claim: Bicycles may be taken along free of charge.
claim: The trains on this line are crowded in the morning.
claim: A night train is cancelled because of construction work.
unit: IC 727 is delayed by 6 hours.
unit: The 2nd class fare is $29.30.
unit: First class costs 49.81 pounds.
""",
    ),
]
