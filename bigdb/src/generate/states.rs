//! The states of the USA with their weights and cities.

/// A state: its postal code, a weight that follows its population in units of
/// about 100,000 people, and three of its cities.
pub(super) type State = (&'static str, u32, [&'static str; 3]);

/// The fifty states, the most populous first.
#[rustfmt::skip]
pub(super) const STATES: [State; 50] = [
    ("CA", 390, ["Los Angeles", "San Francisco", "San Diego"]), ("TX", 300, ["Houston", "Austin", "Dallas"]),
    ("FL", 225, ["Miami", "Tampa", "Orlando"]), ("NY", 196, ["New York", "Buffalo", "Rochester"]),
    ("PA", 130, ["Philadelphia", "Pittsburgh", "Erie"]), ("IL", 126, ["Chicago", "Springfield", "Peoria"]),
    ("OH", 118, ["Columbus", "Cleveland", "Cincinnati"]), ("GA", 110, ["Atlanta", "Savannah", "Athens"]),
    ("NC", 108, ["Charlotte", "Raleigh", "Asheville"]), ("MI", 100, ["Detroit", "Ann Arbor", "Lansing"]),
    ("NJ", 93, ["Newark", "Trenton", "Hoboken"]), ("VA", 87, ["Richmond", "Norfolk", "Roanoke"]),
    ("WA", 78, ["Seattle", "Spokane", "Tacoma"]), ("AZ", 74, ["Phoenix", "Tucson", "Flagstaff"]),
    ("TN", 71, ["Nashville", "Memphis", "Knoxville"]), ("MA", 70, ["Boston", "Worcester", "Salem"]),
    ("IN", 68, ["Indianapolis", "Bloomington", "Fort Wayne"]), ("MO", 62, ["St. Louis", "Kansas City", "Columbia"]),
    ("MD", 61, ["Baltimore", "Annapolis", "Frederick"]), ("WI", 59, ["Milwaukee", "Madison", "Green Bay"]),
    ("CO", 58, ["Denver", "Boulder", "Fort Collins"]), ("MN", 57, ["Minneapolis", "St. Paul", "Duluth"]),
    ("SC", 53, ["Charleston", "Columbia", "Greenville"]), ("AL", 51, ["Birmingham", "Mobile", "Huntsville"]),
    ("LA", 46, ["New Orleans", "Baton Rouge", "Lafayette"]), ("KY", 45, ["Louisville", "Lexington", "Paducah"]),
    ("OR", 42, ["Portland", "Eugene", "Bend"]), ("OK", 40, ["Oklahoma City", "Tulsa", "Norman"]),
    ("CT", 36, ["Hartford", "New Haven", "Mystic"]), ("UT", 34, ["Salt Lake City", "Provo", "Moab"]),
    ("IA", 32, ["Des Moines", "Iowa City", "Dubuque"]), ("NV", 31, ["Las Vegas", "Reno", "Carson City"]),
    ("AR", 30, ["Little Rock", "Fayetteville", "Hot Springs"]), ("MS", 29, ["Jackson", "Biloxi", "Oxford"]),
    ("KS", 29, ["Wichita", "Topeka", "Lawrence"]), ("NM", 21, ["Albuquerque", "Santa Fe", "Taos"]),
    ("NE", 20, ["Omaha", "Lincoln", "Kearney"]), ("ID", 19, ["Boise", "Moscow", "Sandpoint"]),
    ("WV", 18, ["Charleston", "Morgantown", "Wheeling"]), ("HI", 14, ["Honolulu", "Hilo", "Lahaina"]),
    ("NH", 14, ["Manchester", "Portsmouth", "Keene"]), ("ME", 14, ["Portland", "Bangor", "Rockland"]),
    ("RI", 11, ["Providence", "Newport", "Bristol"]), ("MT", 11, ["Missoula", "Bozeman", "Helena"]),
    ("DE", 10, ["Wilmington", "Dover", "Lewes"]), ("SD", 9, ["Sioux Falls", "Rapid City", "Deadwood"]),
    ("ND", 8, ["Fargo", "Bismarck", "Minot"]), ("AK", 7, ["Anchorage", "Juneau", "Homer"]),
    ("VT", 6, ["Burlington", "Montpelier", "Brattleboro"]), ("WY", 6, ["Cheyenne", "Laramie", "Jackson"]),
];
