use std::borrow::Cow;

use super::*;
use crate::audit::Views;
use crate::hierarchy::{Cells, Column, ColumnSpec, Microdata, Rule};
use crate::release::{
    DataFile, DataFormat, FORMAT, Manifest, MethodNote, PublishedColumn, Treatment,
};
use crate::release::{Release, Store, checksum};
use crate::table::{Kind, ReadOptions, Reading, Role, Source};
use crate::watch::Unwatched;

/// A release of sets over two quasi columns and one sensitive column.
fn release(rows: &str) -> (tempfile::TempDir, Release) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("data.csv");
    std::fs::write(&path, format!("x,y,s\n{rows}")).unwrap();
    let column = |name: &str, role| PublishedColumn {
        name: name.into(),
        role,
        kind: Kind::Category,
        missing: vec![String::new()],
        date_format: None,
        hierarchy: (role == Role::Quasi).then_some(Rule::Plain),
        weight: None,
        decimals: None,
        domain: None,
        grid: None,
        treatment: match role {
            Role::Quasi => Treatment::Coarse { cells: Cells::Set, level: None },
            _ => Treatment::Kept,
        },
    };
    let manifest = Manifest {
        format: FORMAT,
        software: String::new(),
        experiment: false,
        rows: rows.lines().count() as u64,
        left_out: 0,
        data: DataFile::of(DataFormat::Csv),
        columns: vec![
            column("x", Role::Quasi),
            column("y", Role::Quasi),
            column("s", Role::Sensitive),
        ],
        classes: Vec::new(),
        sampled: None,
        method: MethodNote::default(),
        promises: Vec::new(),
        person: None,
        loss: std::collections::BTreeMap::new(),
        not_promised: Vec::new(),
        shares: None,
        calibration: None,
        checksums: [("data.csv".to_owned(), checksum(&path).unwrap())].into(),
    };
    manifest.write(&Store::Directory(home.path().to_path_buf())).unwrap();
    let release = Release::open(home.path()).unwrap();
    (home, release)
}

fn original(rows: &str) -> Microdata {
    let spec = |name: &str, role| ColumnSpec {
        cells: Cells::Set,
        ..ColumnSpec::new(name, role, Reading::category(), Rule::Plain)
    };
    let text = format!("x,y,s\n{rows}").into_bytes();
    let source = Source::from_bytes("o.csv", text, &ReadOptions::default()).unwrap();
    let specs =
        [spec("x", Role::Quasi), spec("y", Role::Quasi), spec("s", Role::Sensitive)];
    Microdata::read(&source, &specs, &Unwatched).unwrap()
}

/// Overlapping sets over four values a column, and every tuple once.
fn overlapping() -> (String, String) {
    let mut sets = Vec::new();
    for mask in 1..16u32 {
        let values: Vec<&str> = (0..4)
            .filter(|bit| mask >> bit & 1 == 1)
            .map(|bit| ["a", "b", "c", "d"][bit])
            .collect();
        sets.push(match &values[..] {
            [only] => (*only).to_owned(),
            _ => format!("\"{{{}}}\"", values.join(", ")),
        });
    }
    let mut published = String::new();
    for (place, x) in sets.iter().enumerate() {
        for (other, y) in sets.iter().enumerate() {
            if (place * 7 + other * 3) % 5 < 2 {
                for row in 0..(place + other) % 3 + 1 {
                    published += &format!("{x},{y},s{}\n", (place * other + row) % 4);
                }
            }
        }
    }
    let mut people = String::new();
    for x in ["a", "b", "c", "d"] {
        for y in ["a", "b", "c", "d"] {
            people += &format!("{x},{y},s0\n{x},{y},s1\n");
        }
    }
    (published, people)
}

fn linked<R>(
    published: &str,
    people: &str,
    look: impl FnOnce(&CellClasses, &Covers, &[Cow<'_, Column>], &QuasiKnowledge<'_>) -> R,
) -> R {
    let (_home, release) = release(published);
    let original = original(people);
    let views = Views::open(&release, &Unwatched).unwrap();
    let view = views.cells().unwrap().unwrap();
    let (columns, places) =
        crate::audit::given::quasi_columns(&release.manifest, &original, "original")
            .unwrap();
    let covers = Covers::read(&release.manifest, view, &columns).unwrap();
    look(view, &covers, &columns, &QuasiKnowledge::of(&original, &places, &Unwatched))
}

#[test]
fn candidates_of_overlapping_cells_are_those_of_brute_force() {
    let (published, people) = overlapping();
    linked(&published, &people, |view, covers, columns, known| {
        let found = guess(view, covers, known);
        assert_eq!(found.tuples.len(), 16);
        for (place, (tuple, people)) in found.tuples.iter().enumerate() {
            assert_eq!(*people, 2);
            let contains = |group: usize| {
                (0..2).all(|c| {
                    let cell = view.quasi[c].of_group[group] as usize;
                    covers.columns[c].covers[cell].contains(
                        &columns[c].domain,
                        &columns[c].hierarchy,
                        known.tuples[c][*tuple as usize],
                    )
                })
            };
            let groups: Vec<usize> =
                (0..view.n_groups()).filter(|group| contains(*group)).collect();
            let candidates: u64 = groups.iter().map(|group| view.sizes[*group]).sum();
            assert_eq!(found.candidates[place], candidates);
            let mut values = view.histogram(0);
            groups.iter().for_each(|group| view.add_to(*group, 0, &mut values));
            let guess = crate::audit::attacks::homogeneity::commonest(&values);
            assert_eq!(found.values[0][place], guess);
        }
    });
}

#[test]
fn too_much_work_is_done_for_a_sample_and_says_so() {
    assert_eq!(sample(&[3, 1, 4], 8), [(0, 3), (1, 1), (2, 4)]);
    assert_eq!(sample(&[3, 1, 4], 100), [(0, 3), (1, 1), (2, 4)]);
    let chosen = sample(&[1; 1000], 10);
    assert_eq!(chosen.len(), 10);
    let n: u64 = sample(&[7, 0, 90, 3], 10).iter().map(|(_, n)| n).sum();
    assert_eq!(n, 10);
    let mut people = String::new();
    for x in 0..40 {
        for y in 0..40 {
            people += &format!("{x},{y},s\n");
        }
    }
    let published = "*,*,s\n".repeat(1598) + "\"{1, 2}\",*,s\n1,*,s\n";
    linked(&published, &people, |view, covers, _, known| {
        let found = guess_within(view, covers, known, 1000);
        assert!(found.people_of_group.is_none());
        assert_eq!(found.tuples.iter().map(|(_, n)| n).sum::<u64>(), 1000);
        assert!(guess(view, covers, known).people_of_group.is_some());
    });
}

#[test]
fn cells_that_do_not_overlap_are_looked_up() {
    let published = "\"{a, b}\",c,s\n\"{a, b}\",c,t\nc,d,s\n";
    linked(published, "a,c,s\nb,c,t\nc,d,s\nc,c,s\n", |view, covers, _, known| {
        assert!(Lookup::new(view, covers).is_some());
        let found = guess(view, covers, known);
        assert_eq!(found.candidates, [2, 2, 0, 1]);
        assert_eq!(found.people_of_group.unwrap().iter().sum::<u64>(), 3);
    });
}
