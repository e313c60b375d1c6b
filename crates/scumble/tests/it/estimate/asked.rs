//! What can be asked, whatever was done to the columns: patterns, an order, the first groups.

use scumble::estimate::{Ask, Estimate, Evidence, Query, Way};
use scumble::release::Release;
use scumble::watch::Unwatched;

use crate::builder::{ask, folder, run};

const NATIONS: [&str; 5] = ["Rome", "Romania", "Peru", "Chile", "China"];
const ZIPS: [&str; 6] = ["47901", "47906", "47912", "48001", "48109", "01067"];
const ILLS: [&str; 4] = ["flu", "fever", "cough", "cold"];

/// A release with cells of a tree, of masks and of values, and a randomized column.
fn evidence() -> Evidence {
    let tree = "Rome;Europe;*\nRomania;Europe;*\nPeru;America;*\nChile;America;*\nChina;Asia;*\n";
    let row = |row: usize| {
        let (nation, zip) = (NATIONS[row * row % 5], ZIPS[row * 7 / 3 % 6]);
        format!(
            "{nation},{zip},{},{}\n",
            ILLS[row % 11 % 4],
            ["x1", "x2", "y1"][row % 3]
        )
    };
    let rows: String = (0..600).map(row).collect();
    let home = folder(&[
        ("table.csv", &format!("nation,zip,ill,ward\n{rows}")),
        ("nation.csv", tree),
    ]);
    let zips: Vec<String> = ZIPS.iter().map(|zip| format!("\"{zip}\"")).collect();
    let recipe = format!(
        "[columns]\nnation = {{ role = \"quasi\", hierarchy = {{ csv = \"nation.csv\" }} }}\n\
         zip = {{ role = \"quasi\", type = \"category\", hierarchy = {{ mask = \"right\" }}, \
         domain = [{}] }}\nill = \"sensitive\"\nward = \"other\"\n[promise]\nk-anonymity = 40\n\
         breach = {{ prior = 0.3, posterior = 0.7 }}\n\
         [[method]]\nname = \"mondrian\"\n[[method]]\nname = \"uniform-perturbation\"\n",
        zips.join(", ")
    );
    run(home.path(), &recipe, 3).unwrap();
    let release = Release::open(&home.path().join("release")).unwrap();
    Evidence::read(&release, &Unwatched).unwrap()
}

fn near(one: &[Estimate], other: &[Estimate], told: &str) {
    assert_eq!(one.len(), other.len(), "{told}");
    for (one, other) in one.iter().zip(other) {
        assert_eq!(one.values, other.values, "{told}");
        assert!((one.count - other.count).abs() < 1e-6, "{told}: {one:?} {other:?}");
        let errors = one.standard_error.zip(other.standard_error);
        assert!(errors.is_none_or(|(a, b)| (a - b).abs() < 1e-6), "{told}");
    }
}

/// A pattern is a list of the values that look like it.
#[test]
fn a_pattern_asks_for_the_values_that_are_like_it() {
    let evidence = evidence();
    let columns: [(&str, &[&str], &[&str]); 4] = [
        ("nation", &NATIONS, &["Rom%", "%a", "_eru", "Ch%", "%i%", "%"]),
        ("zip", &ZIPS, &["479%", "4%", "_8___", "%7", "%0%1%"]),
        ("ill", &ILLS, &["f%", "co%", "%l%"]),
        ("ward", &["x1", "x2", "y1"], &["x_", "%1"]),
    ];
    for (column, values, patterns) in columns {
        for text in patterns {
            let pattern = scumble::estimate::Pattern::new(text).unwrap();
            let like: Vec<String> = values
                .iter()
                .filter(|value| pattern.matches(value))
                .map(|value| format!("'{value}'"))
                .collect();
            for not in ["", "NOT "] {
                let by = |condition: &str| {
                    let text = format!(
                        "SELECT ward, COUNT(*) FROM t WHERE {column} {not}{condition} GROUP BY ward"
                    );
                    ask(&evidence, &text)
                };
                let listed = by(&format!("IN ({})", like.join(", ")));
                near(
                    &by(&format!("LIKE '{text}'")),
                    &listed,
                    &format!("{column} {not}{text}"),
                );
            }
        }
    }
}

#[test]
fn the_first_groups_are_those_of_the_whole_answer() {
    let evidence = evidence();
    let asked = "SELECT nation, ill, COUNT(*), SHARE(ward LIKE 'x%') AS x FROM t \
                 GROUP BY nation, ill";
    let answers = |text: &str| {
        let ask = Ask::parse(text).unwrap();
        let numbers = ask.numbers.iter();
        let mut answers: Vec<Vec<Estimate>> = numbers
            .map(|(_, query): &(String, Query)| {
                evidence.answer_by_law(query, Way::Inverse).unwrap()
            })
            .collect();
        let counts = ask.arrange(&mut answers);
        (answers, counts)
    };
    let (whole, counts) = answers(asked);
    assert_eq!(counts.0, counts.1);
    let (first, (n_groups, shown)) =
        answers(&format!("{asked} ORDER BY COUNT(*) DESC LIMIT 4"));
    assert_eq!((n_groups, shown, first[0].len()), (counts.0, 4, 4));
    let mut expected = whole[0].clone();
    expected.sort_by(|a, b| b.count.total_cmp(&a.count));
    near(&first[0], &expected[..4], "the largest");
    for (one, other) in first[0].iter().zip(&first[1]) {
        assert_eq!(one.values, other.values, "numbers of a group stand together");
        assert!(whole[1].iter().any(|whole| whole.values == other.values
            && (whole.count - other.count).abs() < 1e-9));
    }
    let (by_name, _) = answers(&format!("{asked} ORDER BY ill DESC, 1"));
    let names: Vec<(&str, &str)> =
        by_name[0].iter().map(|e| (&*e.values[1], &*e.values[0])).collect();
    let mut sorted = names.clone();
    sorted.sort_by(|a, b| b.0.cmp(a.0).then(a.1.cmp(b.1)));
    assert_eq!(names, sorted);
}
