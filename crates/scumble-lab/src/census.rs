//! Occupations and education of the thesis: its own counts, and the records of a census
//! that stand in for its records.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rand::RngExt;
use scumble::error::{Error, Result};
use scumble::random::Randomness;

/// The columns of the source, quasi and sensitive.
pub(crate) const EIGHT: [&str; 8] = [
    "Age",
    "Gender",
    "Education",
    "Marital",
    "Race",
    "Workclass",
    "Country",
    "Occupation",
];

/// The places of the two sensitive columns among the eight.
pub(crate) const EDUCATION: usize = 2;
pub(crate) const OCCUPATION: usize = 7;

const FILE: &str = "acs_occ_500k.csv";

/// How often each value occurs in a table of 100,000 rows of the source.
pub(crate) fn counts(folder: &Path, name: &str) -> Result<Vec<u64>> {
    let path = folder.join(name);
    let shown = path.display().to_string();
    let text =
        fs::read_to_string(&path).map_err(|error| Error::io("read", &shown, error))?;
    let lines = (1..).zip(text.lines()).skip(1).filter(|(_, line)| !line.is_empty());
    let count = |(number, line): (usize, &str)| {
        let count = line.split(',').nth(1).and_then(|count| count.trim().parse().ok());
        count.ok_or_else(|| Error::input("not a count").at(shown.clone(), number, 1))
    };
    lines.map(count).collect()
}

/// Records with the schema of the source.
#[derive(Debug)]
pub(crate) struct Census {
    /// For each of the eight columns the codes of all rows, in an order drawn at random.
    columns: Vec<Vec<u16>>,
    /// How many values each column has.
    sizes: Vec<usize>,
}

impl Census {
    /// Reads the records of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        if !path.exists() {
            let packed = if folder.join(format!("{FILE}.xz")).exists() {
                format!(
                    "unpack `{FILE}.xz` first (`xz -dk`), into a folder of your own if \
                     this one cannot be written"
                )
            } else {
                "it has the records of a census with the columns of the source"
                    .to_owned()
            };
            return Err(Error::input("there is no such file")
                .in_file(path.display().to_string())
                .with_hint(packed));
        }
        let shown = path.display().to_string();
        let text = fs::read_to_string(&path)
            .map_err(|error| Error::io("read", &shown, error))?;
        Self::parse(&text, &shown)
    }

    /// The same, if the records are there.
    pub(crate) fn if_any(folder: &Path) -> Result<Option<Self>> {
        folder.join(FILE).exists().then(|| Self::read(folder)).transpose()
    }

    fn parse(text: &str, shown: &str) -> Result<Self> {
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let place = |name: &&str| {
            let place = header.iter().position(|known| known == name);
            place.ok_or_else(|| {
                Error::input(format!("no column {name}")).in_file(shown.to_owned())
            })
        };
        let places: Vec<usize> = EIGHT.iter().map(place).collect::<Result<_>>()?;
        let mut raw: Vec<Vec<u32>> = vec![Vec::new(); places.len()];
        for (number, line) in (2..).zip(lines).filter(|(_, line)| !line.is_empty()) {
            let cells: Vec<&str> = line.split(',').collect();
            for (column, place) in raw.iter_mut().zip(&places) {
                let code = cells.get(*place).and_then(|cell| cell.parse().ok());
                let code = code.ok_or_else(|| {
                    Error::input("not a whole number").at(shown, number, *place + 1)
                })?;
                column.push(code);
            }
        }
        let n = raw[0].len();
        let order = shuffled(n);
        let mut census = Self { columns: Vec::new(), sizes: Vec::new() };
        for column in raw {
            let values: Vec<u32> =
                column.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
            // Every value is in the list.
            let code =
                |row: &usize| values.partition_point(|value| *value < column[*row]);
            census.columns.push(order.iter().map(|row| code(row) as u16).collect());
            census.sizes.push(values.len());
        }
        Ok(census)
    }

    /// How many rows a sample of so many fifths has.
    pub(crate) fn n_rows(&self, fifths: usize) -> usize {
        self.columns[0].len() * fifths / 5
    }

    /// The codes of a column in a sample; smaller samples are parts of larger ones.
    pub(crate) fn column(&self, place: usize, fifths: usize) -> &[u16] {
        &self.columns[place][..self.n_rows(fifths)]
    }

    /// How many values a column has.
    pub(crate) fn size(&self, place: usize) -> usize {
        self.sizes[place]
    }

    /// How often each value of a column occurs in a sample.
    pub(crate) fn counts(&self, place: usize, fifths: usize) -> Vec<u64> {
        let mut counts = vec![0; self.sizes[place]];
        self.column(place, fifths).iter().for_each(|code| counts[*code as usize] += 1);
        counts
    }
}

/// The numbers below `n` in an order drawn at random, the same every time.
fn shuffled(n: usize) -> Vec<usize> {
    let mut words = Randomness::of_seed(0).stream("census", 0);
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        order.swap(last, words.random_range(0..=last));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_parts_of_the_file() {
        let mut text = EIGHT.join(",") + ",More\n";
        for row in 0..100 {
            text.push_str(&format!(
                "{},1,{},1,1,1,1,{},9\n",
                row,
                row % 3,
                row % 4 * 5
            ));
        }
        let census = Census::parse(&text, "census.csv").unwrap();
        assert_eq!(census.n_rows(5), 100);
        assert_eq!(census.column(0, 2), &census.column(0, 5)[..40]);
        assert_eq!(census.counts(EDUCATION, 5), [34, 33, 33]);
        assert_eq!(census.counts(OCCUPATION, 5), [25; 4]);
        assert_eq!(census.counts(OCCUPATION, 1).iter().sum::<u64>(), 20);
        assert_eq!(census.size(0), 100);
        let wrong = Census::parse(&text.replace(",10,", ",x,"), "census.csv");
        assert!(wrong.unwrap_err().to_string().contains("census.csv:4:8"));
    }
}
