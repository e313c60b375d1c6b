//! Beliefs as a file states them.
//!
//! # Guarantee
//! Probabilities of the file are taken as they are. What is missing to 1 for a signature is
//! spread evenly over the values of the sensitive column that it does not list. A value that
//! the table does not have keeps its probability: nobody has it. Texts mean what they mean in
//! the table: 41.0 is 41, dates are read as the column reads them, and so are texts for "not
//! known". Every signature of the table must be in the file.
//!
//! # Limits
//! An empty cell says nothing, so people whose value is "not known" can be described only if
//! the column has another text for that.
//!
//! # Cost
//! O(n + m v) for n tuples of the census, m signatures of the file and v values.
//!
//! # Source
//! `wong2010inference` for beliefs by signature; docs/methods.md,
//! "Beliefs and possible worlds", for the file.

use hashbrown::HashMap;

use super::priors::{SignatureId, Signatures};
use super::{PriorSet, Priors};
use crate::error::{Error, Result};
use crate::hierarchy::{Column, ColumnSpec, Microdata};
use crate::table::{Code, Of, Stated, StatedSet, TupleId};

impl Priors {
    /// Beliefs of a file: for the sensitive column at place `sensitive`, by each of these
    /// sets of places of quasi columns.
    pub fn stated(
        data: &Microdata,
        sensitive: usize,
        stated: &Stated,
        sets: &[Vec<usize>],
    ) -> Result<Self> {
        let of = |columns: &Vec<usize>| of_file(data, sensitive, stated, columns);
        Ok(Self { sets: sets.iter().map(of).collect::<Result<_>>()? })
    }
}

fn of_file(
    data: &Microdata,
    sensitive: usize,
    stated: &Stated,
    columns: &[usize],
) -> Result<PriorSet> {
    let mut columns = columns.to_vec();
    columns.sort_unstable();
    columns.dedup();
    let names: Vec<&str> =
        columns.iter().map(|place| data.quasi[*place].name.as_str()).collect();
    let Some(known) = stated.set(&names) else {
        return Err(unknown_set(stated, &names));
    };
    // The columns in the order of the file.
    let places: Vec<usize> = known
        .columns
        .iter()
        .flat_map(|name| columns.iter().filter(|at| data.quasi[**at].name == *name))
        .copied()
        .collect();
    let census = &data.census;
    let codes: Vec<_> = places.iter().map(|place| &census.quasi[*place]).collect();
    let by_code: Vec<_> =
        codes.iter().map(|codes| |tuple: TupleId| codes[tuple]).collect();
    let signatures = Signatures::gather(census.n_tuples(), &by_code);
    let of_example = |tuple: TupleId| -> Vec<Code> {
        codes.iter().map(|codes| codes[tuple]).collect()
    };
    let examples = signatures.example.pairs();
    let signature_of: HashMap<Vec<Code>, SignatureId> =
        examples.map(|(signature, tuple)| (of_example(*tuple), signature)).collect();

    let n_values = census.sensitive_sizes[sensitive];
    let mut shares = vec![0.0; signatures.example.len() * n_values];
    let mut found: Of<SignatureId, bool> = Of::repeat(false, signatures.example.len());
    let cells: Vec<Texts<'_>> =
        places.iter().map(|place| Texts::of_quasi(data, *place)).collect();
    let values = Texts::of_sensitive(data, sensitive);
    for (texts, listed) in &known.signatures {
        let key: Option<Vec<Code>> =
            texts.iter().zip(&cells).map(|(text, cells)| cells.code(text)).collect();
        let Some(signature) = key.and_then(|key| signature_of.get(&key)) else {
            continue;
        };
        if std::mem::replace(&mut found[*signature], true) {
            return Err(Error::input(format!(
                "what is known by {} has two names for the same people",
                listing(&known.columns)
            ))
            .with_hint("write each value in one way: 41 and 41.0 mean the same"));
        }
        let shares = &mut shares[signature.index() * n_values..][..n_values];
        spread(listed, &values, shares)
            .ok_or_else(|| repeated_value(known, &values))?;
    }

    let rows = signatures.sums(&census.rows);
    let present = rows.iter().filter(|rows| **rows > 0).count();
    let lacking =
        found.iter().zip(&rows).filter(|(found, rows)| !**found && **rows > 0).count();
    if lacking > 0 {
        return Err(Error::input(format!(
            "what is known by {} leaves out {lacking} of the {present} combinations of \
             values that the table has there",
            listing(&known.columns)
        ))
        .with_hint(
            "add lines for them (an empty cell says nothing: to speak of values that are \
             not known, write one of the texts of `missing`), or take knowledge from the \
             table",
        ));
    }
    Ok(PriorSet {
        columns,
        of_tuple: signatures.above,
        n_values,
        shares,
        signatures: present as u64,
        rare: 0,
        rare_rows: 0,
        whole_rows: 0,
    })
}

/// Lays the listed probabilities and spreads the rest; nothing if two texts mean the same
/// value.
fn spread(
    listed: &[(String, f64)],
    values: &Texts<'_>,
    shares: &mut [f64],
) -> Option<()> {
    let mut sum = 0.0;
    let mut is_listed = vec![false; shares.len()];
    for (text, share) in listed {
        sum += share;
        if let Some(code) = values.code(text) {
            if std::mem::replace(&mut is_listed[code.index()], true) {
                return None;
            }
            shares[code.index()] = *share;
        }
    }
    let open = is_listed.iter().filter(|listed| !**listed).count();
    // Rounded probabilities may add up to a little more than 1.
    let each = (1.0 - sum).max(0.0) / open.max(1) as f64;
    for (share, listed) in shares.iter_mut().zip(is_listed) {
        if !listed {
            *share = each;
        }
    }
    Some(())
}

/// The texts of a column, and what others mean the same.
struct Texts<'a> {
    column: &'a Column,
    spec: &'a ColumnSpec,
    codes: &'a HashMap<Box<str>, Code>,
    /// Texts of the domain.
    index: HashMap<&'a str, Code>,
}

impl<'a> Texts<'a> {
    fn of_quasi(data: &'a Microdata, place: usize) -> Self {
        Self::new(data, &data.quasi[place], place)
    }

    fn of_sensitive(data: &'a Microdata, place: usize) -> Self {
        Self::new(data, &data.sensitive[place], data.quasi.len() + place)
    }

    fn new(data: &'a Microdata, column: &'a Column, place: usize) -> Self {
        let index = column.domain.index().into_iter().collect();
        Self { column, spec: &data.specs[place], codes: &data.codes[place], index }
    }

    /// The code of the value that a text means, if the domain has it.
    fn code(&self, text: &str) -> Option<Code> {
        if let Some(code) = self.codes.get(text) {
            return Some(*code);
        }
        let reading = &self.spec.reading;
        if reading.is_missing(text) {
            return self.column.domain.missing();
        }
        let canonical = reading.canonical(text, reading.number_of(text)?);
        self.index.get(canonical.as_str()).copied()
    }
}

fn repeated_value(known: &StatedSet, values: &Texts<'_>) -> Error {
    Error::input(format!(
        "what is known by {} lists a value of `{}` twice for the same people, in two ways \
         of writing it",
        listing(&known.columns),
        values.column.name
    ))
}

fn unknown_set(stated: &Stated, names: &[&str]) -> Error {
    let known: Vec<String> =
        stated.sets.iter().map(|set| listing(&set.columns)).collect();
    let error = format!("nothing is known by {}", listing(names));
    Error::input(error)
        .with_hint(format!("the file has what is known by {}", known.join("; by ")))
}

/// Names for messages: `age` and `sex`.
fn listing(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> =
        names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    quoted.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Rule;
    use crate::table::{Kind, ReadOptions, Reading, Role, Source};
    use crate::watch::Unwatched;

    const TABLE: &str = "sex,age,born,disease\n\
                         M,41,31.12.1999,flu\nF,42.0,01.01.2000,gout\n\
                         M,?,01.01.2000,cough\n F,41,31.12.1999,\n";

    fn data() -> Microdata {
        let quasi =
            |name, reading| ColumnSpec::new(name, Role::Quasi, reading, Rule::Plain);
        let missing = vec![String::new(), "?".to_owned(), "n/a".to_owned()];
        let number = Reading { missing: missing.clone(), ..Reading::number() };
        let date = Reading {
            kind: Kind::Date,
            date_format: Some("%d.%m.%Y".to_owned()),
            missing,
        };
        let specs = [
            quasi("sex", Reading::category()),
            quasi("age", number),
            quasi("born", date),
            ColumnSpec::new(
                "disease",
                Role::Sensitive,
                Reading::category(),
                Rule::Plain,
            ),
        ];
        let text = TABLE.replace("\n ", "\n").into_bytes();
        let source =
            Source::from_bytes("t.csv", text, &ReadOptions::default()).unwrap();
        Microdata::read(&source, &specs, &Unwatched).unwrap()
    }

    fn stated(text: &str, set: &[usize]) -> Result<PriorSet> {
        let stated = Stated::parse(text.as_bytes(), "known.csv").unwrap();
        Priors::stated(&data(), 0, &stated, &[set.to_vec()])
            .map(|mut priors| priors.sets.remove(0))
    }

    /// The belief that a tuple with these codes has a disease.
    fn belief(set: &PriorSet, codes: &[(usize, &str)], disease: &str) -> f64 {
        let data = data();
        let tuple = data.census.tuples().find(|tuple| {
            codes.iter().all(|(at, text)| {
                data.quasi[*at].domain.text(data.census.quasi[*at][*tuple]) == *text
            })
        });
        let value = data.sensitive[0].domain.index()[disease].index();
        set.of(tuple.unwrap())[value]
    }

    #[test]
    fn what_is_not_listed_is_spread_over_the_rest() {
        let text = "sex,disease,probability\n\
                    M,flu,0.5\nM,plague,0.2\nF,flu,0.7\nF,gout,0.3000005\nX,flu,1\n";
        let set = stated(text, &[0]).unwrap();
        assert_eq!((set.signatures, set.rare, set.n_values), (2, 0, 4));
        assert_eq!(belief(&set, &[(0, "M")], "flu"), 0.5);
        // Gout, cough and not known share what flu and plague leave.
        for disease in ["gout", "cough", ""] {
            let share = belief(&set, &[(0, "M")], disease);
            assert!((share - 0.1).abs() < 1e-12, "{share}");
        }
        assert_eq!(belief(&set, &[(0, "F")], "cough"), 0.0);
        // "Not known" can be listed.
        let text = "sex,disease,probability\nM,,0.4\nF,flu,1\n";
        let set = stated(text, &[0]).unwrap();
        assert_eq!(belief(&set, &[(0, "M")], ""), 0.4);
        assert!((belief(&set, &[(0, "M")], "flu") - 0.2).abs() < 1e-12);
    }

    #[test]
    fn texts_mean_what_they_mean_in_the_table() {
        let text = "born,age,disease,probability\n\
                    31.12.1999,41.0,flu,0.1\n01.01.2000,42,flu,0.2\n\
                    01.01.2000,n/a,flu,0.3\n";
        let set = stated(text, &[1, 2]).unwrap();
        assert_eq!(set.columns, [1, 2]);
        assert_eq!(belief(&set, &[(1, "41")], "flu"), 0.1);
        assert_eq!(belief(&set, &[(1, "42")], "flu"), 0.2);
        let missing = Reading::number().missing_text().to_owned();
        assert_eq!(belief(&set, &[(1, &missing), (2, "2000-01-01")], "flu"), 0.3);
    }

    #[test]
    fn what_the_file_lacks_is_counted_not_shown() {
        let text = "age,sex,disease,probability\n41,M,flu,0.1\n42,,flu,1\n";
        let message = |set: &[usize]| stated(text, set).unwrap_err().to_string();
        assert_eq!(
            message(&[0, 1]),
            "what is known by `age` and `sex` leaves out 3 of the 4 combinations of values \
             that the table has there"
        );
        assert_eq!(
            message(&[1]),
            "what is known by `age` leaves out 2 of the 3 combinations of values that the \
             table has there"
        );
        let error = stated(text, &[2]).unwrap_err();
        assert_eq!(error.to_string(), "nothing is known by `born`");
        assert_eq!(
            error.hints(),
            ["the file has what is known by `age` and `sex`; by `age`"]
        );
        let twice = "age,disease,probability\n41,flu,0.1\n41.0,flu,0.2\n";
        assert_eq!(
            stated(twice, &[1]).unwrap_err().to_string(),
            "what is known by `age` has two names for the same people"
        );
    }
}
