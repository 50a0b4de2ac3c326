//! The word lists that names, venues, notes and reviews are put together from.

/// One kind of event, with the words its names are made of.
pub(super) struct Category {
    /// The name of the category, unique in its list.
    pub name: &'static str,
    /// What the event is about, the middle word of its name.
    pub themes: [&'static str; 6],
    /// What sort of gathering it is, the last word of its name.
    pub forms: [&'static str; 4],
}

/// A group of three categories, and the parent that `categories.parent_id` names.
pub(super) struct Group {
    /// The name of the parent category.
    pub name: &'static str,
    /// Its children.
    pub categories: [Category; 3],
}

const fn category(
    name: &'static str,
    themes: [&'static str; 6],
    forms: [&'static str; 4],
) -> Category {
    Category {
        name,
        themes,
        forms,
    }
}

/// Every category there is; events belong to the children only.
#[rustfmt::skip]
pub(super) const GROUPS: [Group; 8] = [
    Group { name: "Music", categories: [
        category("Jazz", ["Jazz", "Swing", "Bebop", "Dixieland", "Big Band", "Bossa Nova"], ["Night", "Session", "Brunch", "Quartet"]),
        category("Rock and pop", ["Indie", "Garage Rock", "Synth Pop", "Punk", "Folk Rock", "Soul"], ["Concert", "Showcase", "Live", "Weekender"]),
        category("Classical", ["Chamber", "Baroque", "Symphonic", "Choral", "Piano", "Strings"], ["Recital", "Concert", "Matinee", "Evening"]),
    ]},
    Group { name: "Stage", categories: [
        category("Theatre", ["Shakespeare", "One-Act", "Fringe", "New Writing", "Mystery", "Musical"], ["Play", "Performance", "Revival", "Premiere"]),
        category("Comedy", ["Stand-Up", "Improv", "Sketch", "Open Mic", "Satire", "Late Laughs"], ["Night", "Hour", "Showcase", "Club"]),
        category("Dance", ["Ballet", "Tango", "Contemporary", "Salsa", "Tap", "Flamenco"], ["Gala", "Social", "Evening", "Showcase"]),
    ]},
    Group { name: "Film", categories: [
        category("Screenings", ["Silent Film", "Noir", "Western", "Sci-Fi", "World Cinema", "Musical"], ["Screening", "Double Bill", "Matinee", "Preview"]),
        category("Film festivals", ["Short Film", "Documentary", "Animation", "Horror", "Student Film", "Independent Film"], ["Festival", "Showcase", "Awards", "Weekend"]),
        category("Outdoor cinema", ["Drive-In", "Rooftop", "Starlight", "Garden", "Beach", "Classic"], ["Cinema", "Movie Night", "Picture Show", "Screening"]),
    ]},
    Group { name: "Food and drink", categories: [
        category("Tastings", ["Wine", "Craft Beer", "Cheese", "Coffee", "Cider", "Chocolate"], ["Tasting", "Evening", "Flight", "Masterclass"]),
        category("Markets", ["Farmers", "Street Food", "Night", "Harvest", "Artisan", "Winter"], ["Market", "Fair", "Bazaar", "Weekend"]),
        category("Cooking classes", ["Pasta", "Sourdough", "Sushi", "Curry", "Barbecue", "Pastry"], ["Class", "Workshop", "Kitchen", "Supper"]),
    ]},
    Group { name: "Sport", categories: [
        category("Running", ["10K", "Half Marathon", "Trail", "Charity", "Sunrise", "Relay"], ["Run", "Race", "Challenge", "Meet"]),
        category("Cycling", ["Gravel", "Criterium", "Century", "Family", "Hill Climb", "Twilight"], ["Ride", "Race", "Tour", "Series"]),
        category("Team games", ["Softball", "Soccer", "Basketball", "Volleyball", "Ultimate", "Hockey"], ["League", "Cup", "Tournament", "Derby"]),
    ]},
    Group { name: "Family", categories: [
        category("Story times", ["Picture Book", "Fairy Tale", "Bilingual", "Puppet", "Bedtime", "Dinosaur"], ["Story Time", "Hour", "Theatre", "Morning"]),
        category("Fairs", ["Spring", "County", "Pumpkin", "Lantern", "Kite", "Holiday"], ["Fair", "Festival", "Parade", "Day"]),
        category("Crafts for children", ["Clay", "Paper", "Painting", "Lego", "Mask", "Printing"], ["Workshop", "Drop-In", "Club", "Camp"]),
    ]},
    Group { name: "Learning", categories: [
        category("Talks", ["History", "Astronomy", "Architecture", "Climate", "Philosophy", "Local Lore"], ["Talk", "Lecture", "Forum", "Evening"]),
        category("Workshops", ["Pottery", "Photography", "Letterpress", "Woodworking", "Coding", "Watercolour"], ["Workshop", "Course", "Intensive", "Studio"]),
        category("Book clubs", ["Crime", "Poetry", "Memoir", "Science Fiction", "Classics", "Translation"], ["Book Club", "Reading", "Circle", "Salon"]),
    ]},
    Group { name: "Outdoors", categories: [
        category("Walks", ["Birding", "Wildflower", "Heritage", "Ghost", "Shoreline", "Mushroom"], ["Walk", "Hike", "Ramble", "Tour"]),
        category("Gardens", ["Rose", "Community", "Herb", "Orchard", "Native Plant", "Seed Swap"], ["Open Day", "Workday", "Festival", "Picnic"]),
        category("On the water", ["Kayak", "Regatta", "Sailing", "Paddleboard", "Rowing", "Sunset"], ["Cruise", "Outing", "Lesson", "Race"]),
    ]},
];

/// The first word of an event's name.
#[rustfmt::skip]
pub(super) const PLACES: [&str; 64] = [
    "Harbour", "Riverside", "Old Town", "Hilltop", "Lakeside", "Midtown", "Union Square", "Market Street",
    "Northside", "Southgate", "Eastbank", "West End", "Canal", "Lighthouse", "Boardwalk", "Foundry",
    "Mill Creek", "Cedar Grove", "Orchard", "Prairie", "Copper Hill", "Blue Ridge", "Silver Lake", "Red Rock",
    "Summit", "Meadow", "Pine Street", "Bayview", "Depot", "Courthouse", "Cathedral", "Campus",
    "Granite", "Juniper", "Willow Bend", "Fox Hollow", "Stonebridge", "Clocktower", "Ferry Point", "Sunset",
    "Capitol", "Garden District", "Warehouse", "Railyard", "Tidewater", "Mission", "Plaza", "Arboretum",
    "Highland", "Sycamore", "Magnolia", "Desert", "Canyon", "Coastal", "Founders", "Liberty",
    "Heritage", "Evergreen", "Maple Avenue", "Elm Park", "Crescent", "Brickyard", "Observatory", "Village",
];

/// The first word of a venue's name.
#[rustfmt::skip]
pub(super) const VENUE_NAMES: [&str; 48] = [
    "Linden", "Orpheum", "Carlisle", "Belmont", "Wexford", "Marlowe", "Ashby", "Fairmount",
    "Grand", "Majestic", "Palmer", "Whitfield", "Thornton", "Beacon", "Hollis", "Kestrel",
    "Larkspur", "Mercer", "Northgate", "Oakhurst", "Pemberton", "Quincy", "Radcliffe", "Sterling",
    "Tremont", "Underhill", "Vesper", "Waverly", "Yarrow", "Alder", "Bramble", "Clover",
    "Dovetail", "Ember", "Finch", "Gaslight", "Heron", "Ironwood", "Jubilee", "Keystone",
    "Lantern", "Monarch", "Nightingale", "Opal", "Paragon", "Rosewood", "Sparrow", "Trellis",
];

/// What a venue is, its capacity in seats at the least, and how much larger it may be.
pub(super) const VENUE_KINDS: [(&str, u32, u32); 16] = [
    ("Hall", 200, 1_400),
    ("Theatre", 150, 1_800),
    ("Park", 500, 9_500),
    ("Library", 40, 160),
    ("Arts Center", 120, 700),
    ("Pavilion", 300, 2_700),
    ("Gallery", 50, 250),
    ("Auditorium", 400, 2_600),
    ("Community Center", 80, 320),
    ("Ballroom", 150, 850),
    ("Arena", 3_000, 17_000),
    ("Playhouse", 90, 410),
    ("Museum", 100, 500),
    ("Tavern", 40, 140),
    ("Stadium", 8_000, 52_000),
    ("Gardens", 200, 1_800),
];

/// What an event's status can be, the most common first, each with its weight;
/// None is an event that nobody has set a status for.
pub(super) const STATUSES: [(Option<&str>, u32); 6] = [
    (Some("scheduled"), 480),
    (Some("completed"), 290),
    (Some("sold out"), 90),
    (Some("cancelled"), 50),
    (Some("postponed"), 20),
    (None, 70),
];

/// The tags of events, the most common first.
#[rustfmt::skip]
pub(super) const TAGS: [&str; 24] = [
    "family", "outdoors", "evening", "weekend", "free parking", "accessible", "beginners", "food",
    "live music", "18+", "charity", "seasonal", "members", "dog friendly", "registration", "students",
    "seniors", "online", "bilingual", "holiday", "workshop", "award winner", "sign language", "limited seats",
];

/// First halves of an event's note.
#[rustfmt::skip]
pub(super) const NOTE_STARTS: [&str; 12] = [
    "Doors open thirty minutes before the start", "Bring a blanket and a flask", "The lift is out of order this month",
    "Tickets at the door while they last", "Rain date is the following Sunday", "Moved from the small stage",
    "Please arrive early", "Street parking only", "The organiser asks for no flash photography",
    "Second date added after the first sold out", "Under twelves go free", "Includes a short interval",
];

/// Second halves of an event's note.
#[rustfmt::skip]
pub(super) const NOTE_ENDS: [&str; 8] = [
    "; check the website on the day.", "; ask at the front desk.", ". Refreshments are on sale.",
    " and the main gate closes at ten.", ". No booking needed.", "; volunteers are welcome.",
    ". Hearing loop available.", ", as last year.",
];

/// Given names of the people who write reviews.
#[rustfmt::skip]
pub(super) const GIVEN_NAMES: [&str; 32] = [
    "Ada", "Ben", "Carmen", "Dmitri", "Elena", "Farid", "Grace", "Hugo", "Imani", "Jonas", "Kavita", "Leo",
    "Mei", "Noah", "Oona", "Pablo", "Quinn", "Rosa", "Samir", "Tessa", "Uma", "Victor", "Wren", "Ximena",
    "Yusuf", "Zoë", "Anders", "Bronwyn", "Chidi", "Delia", "Emil", "Freya",
];

/// Family names of the people who write reviews.
#[rustfmt::skip]
pub(super) const FAMILY_NAMES: [&str; 24] = [
    "Abbott", "Brooks", "Castillo", "Dunn", "Ekström", "Fischer", "Gupta", "Hale", "Ito", "Jensen", "Kowalski", "Lindqvist",
    "Moreno", "Nakamura", "Okafor", "Petrov", "Quigley", "Reyes", "Sullivan", "Tanaka", "Usman", "Vance", "Whitaker", "Zhang",
];

/// How a review opens.
#[rustfmt::skip]
pub(super) const REVIEW_STARTS: [&str; 12] = [
    "We came for the company and stayed for the encore.", "The queue was long but it moved.", "A lovely evening from start to finish.",
    "Not what the poster promised.", "The sound was superb from the balcony.", "Crowded, loud and worth every cent.",
    "Our third visit this year.", "A gentle introduction for beginners.", "The host knew every regular by name.",
    "We left at the interval.", "Better than last season.", "The children talked about it for a week.",
];

/// How a review goes on.
#[rustfmt::skip]
pub(super) const REVIEW_MIDDLES: [&str; 12] = [
    "Seats near the aisle have the best view.", "The staff were patient with our questions.", "Take a jacket, the hall is cold.",
    "Coffee was hot and the cake was gone early.", "Parking nearby filled up by six.", "The programme notes were a pleasure to read.",
    "I could not hear the second speaker.", "The lighting made the old brickwork glow.", "Everyone on stage looked glad to be there.",
    "It started late and ended later.", "Tickets were scanned quickly at the gate.", "The accessible entrance is round the back.",
];

/// How a review ends.
#[rustfmt::skip]
pub(super) const REVIEW_ENDS: [&str; 8] = [
    "We will be back.", "Once was enough.", "Recommended for a rainy Sunday.", "Book ahead.",
    "Bring friends.", "A fair price for what it is.", "Four hours flew by.", "I would go again tomorrow.",
];
