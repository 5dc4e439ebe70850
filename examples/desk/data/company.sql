-- Norrlys Mapping, an invented company. Every person, trip and amount below was made up for this project.
CREATE TABLE offices (
  office_id TEXT PRIMARY KEY, city TEXT NOT NULL, country TEXT NOT NULL, airport TEXT NOT NULL,
  timezone TEXT NOT NULL, currency TEXT NOT NULL, opened TEXT NOT NULL
) STRICT;
CREATE TABLE employees (
  employee_id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL,
  office_id TEXT NOT NULL REFERENCES offices, email TEXT NOT NULL
) STRICT;
CREATE TABLE trips (
  trip_id TEXT PRIMARY KEY, employee_id TEXT NOT NULL REFERENCES employees, origin TEXT NOT NULL,
  destination TEXT NOT NULL, departs TEXT NOT NULL, returns TEXT NOT NULL, status TEXT NOT NULL
) STRICT;
CREATE TABLE expenses (
  expense_id TEXT PRIMARY KEY, trip_id TEXT NOT NULL REFERENCES trips, category TEXT NOT NULL,
  amount REAL NOT NULL, currency TEXT NOT NULL
) STRICT;
CREATE TABLE rooms (
  room TEXT PRIMARY KEY, office_id TEXT NOT NULL REFERENCES offices, seats INTEGER NOT NULL
) STRICT;
CREATE TABLE bookings (
  booking_id TEXT PRIMARY KEY, room TEXT NOT NULL REFERENCES rooms, date TEXT NOT NULL,
  start TEXT NOT NULL, "end" TEXT NOT NULL, employee_id TEXT NOT NULL REFERENCES employees
) STRICT;

INSERT INTO offices VALUES
  ('OF-1', 'Oslo', 'NO', 'OSL', 'Europe/Oslo', 'NOK', '2009-03-02'),
  ('OF-2', 'Lisbon', 'PT', 'LIS', 'Europe/Lisbon', 'EUR', '2014-09-15'),
  ('OF-3', 'Tokyo', 'JP', 'HND', 'Asia/Tokyo', 'JPY', '2017-04-03'),
  ('OF-4', 'Nairobi', 'KE', 'NBO', 'Africa/Nairobi', 'KES', '2021-01-18'),
  ('OF-5', 'Toronto', 'CA', 'YYZ', 'America/Toronto', 'CAD', '2018-06-11'),
  ('OF-6', 'Reykjavik', 'IS', 'KEF', 'Atlantic/Reykjavik', 'ISK', '2023-10-02');

INSERT INTO employees VALUES
  ('E101', 'Ingrid Solberg', 'Head of Sales', 'OF-1', 'ingrid.solberg@norrlys.example'),
  ('E102', 'Tomás Ferreira', 'Engineer', 'OF-2', 'tomas.ferreira@norrlys.example'),
  ('E103', 'Aiko Tanaka', 'Designer', 'OF-3', 'aiko.tanaka@norrlys.example'),
  ('E104', 'Wanjiru Kamau', 'Account Manager', 'OF-4', 'wanjiru.kamau@norrlys.example'),
  ('E105', 'Liam Tremblay', 'Engineer', 'OF-5', 'liam.tremblay@norrlys.example'),
  ('E106', 'Sigrún Jónsdóttir', 'Data Analyst', 'OF-6', 'sigrun.jonsdottir@norrlys.example'),
  ('E107', 'Beatriz Lopes', 'Office Manager', 'OF-2', 'beatriz.lopes@norrlys.example'),
  ('E108', 'Henrik Dahl', 'Surveyor', 'OF-1', 'henrik.dahl@norrlys.example'),
  ('E109', 'Kenji Mori', 'Sales Manager', 'OF-3', 'kenji.mori@norrlys.example'),
  ('E110', 'Chloe Martin', 'Finance Lead', 'OF-5', 'chloe.martin@norrlys.example'),
  ('E111', 'Otieno Odhiambo', 'Engineer', 'OF-4', 'otieno.odhiambo@norrlys.example'),
  ('E112', 'Marta Nowak', 'Recruiter', 'OF-1', 'marta.nowak@norrlys.example');

INSERT INTO trips VALUES
  ('T301', 'E101', 'OSL', 'LIS', '2025-06-23', '2025-06-26', 'confirmed'),
  ('T302', 'E101', 'OSL', 'HND', '2025-05-12', '2025-05-19', 'completed'),
  ('T303', 'E102', 'LIS', 'NBO', '2025-07-07', '2025-07-11', 'planned'),
  ('T304', 'E103', 'HND', 'YYZ', '2025-06-02', '2025-06-06', 'completed'),
  ('T305', 'E105', 'YYZ', 'KEF', '2025-08-18', '2025-08-22', 'planned'),
  ('T306', 'E108', 'OSL', 'KEF', '2025-06-30', '2025-07-02', 'confirmed'),
  ('T307', 'E104', 'NBO', 'LIS', '2025-04-07', '2025-04-10', 'completed'),
  ('T308', 'E110', 'YYZ', 'OSL', '2025-09-15', '2025-09-18', 'planned'),
  ('T309', 'E109', 'HND', 'OSL', '2025-03-03', '2025-03-07', 'completed'),
  ('T310', 'E106', 'KEF', 'OSL', '2025-06-24', '2025-06-27', 'confirmed');

INSERT INTO expenses VALUES
  ('X501', 'T302', 'flight', 9840.00, 'NOK'),
  ('X502', 'T302', 'hotel', 142000, 'JPY'),
  ('X503', 'T302', 'meals', 31500, 'JPY'),
  ('X504', 'T302', 'train', 2880, 'JPY'),
  ('X505', 'T304', 'hotel', 1120.50, 'CAD'),
  ('X506', 'T304', 'meals', 214.75, 'CAD'),
  ('X507', 'T304', 'taxi', 63.20, 'CAD'),
  ('X508', 'T307', 'flight', 780.00, 'USD'),
  ('X509', 'T307', 'hotel', 512.40, 'EUR'),
  ('X510', 'T307', 'meals', 138.60, 'EUR'),
  ('X511', 'T309', 'flight', 215300, 'JPY'),
  ('X512', 'T309', 'hotel', 8400.00, 'NOK'),
  ('X513', 'T309', 'meals', 2150.50, 'NOK'),
  ('X514', 'T301', 'flight', 2410.00, 'NOK'),
  ('X515', 'T306', 'flight', 3105.00, 'NOK'),
  ('X516', 'T306', 'hotel', 74800, 'ISK');

INSERT INTO rooms VALUES
  ('Fjord', 'OF-1', 8), ('Skog', 'OF-1', 4), ('Bryggen', 'OF-1', 14),
  ('Tejo', 'OF-2', 10), ('Alfama', 'OF-2', 4),
  ('Sakura', 'OF-3', 6), ('Simba', 'OF-4', 12), ('Maple', 'OF-5', 6), ('Geysir', 'OF-6', 5);

INSERT INTO bookings VALUES
  ('B701', 'Fjord', '2025-06-23', '09:00', '11:00', 'E112'),
  ('B702', 'Bryggen', '2025-06-23', '10:00', '12:00', 'E101'),
  ('B703', 'Tejo', '2025-06-24', '14:00', '15:30', 'E107'),
  ('B704', 'Simba', '2025-06-25', '08:30', '10:00', 'E104'),
  ('B705', 'Maple', '2025-06-24', '13:00', '14:00', 'E110'),
  ('B706', 'Alfama', '2025-06-24', '09:00', '12:00', 'E102');
