//! One class in which all values are as likely is what is taken for granted where nothing was
//! learned. Here, because it needs releases and what only the library sees of the learner.

use std::fmt::Write as _;

use crate::estimate::learn_even;
use crate::estimate::{Evidence, Model, Query, Way};
use crate::recipe::{Request, Spec, publish};
use crate::table::Input;
use crate::watch::Unwatched;

const RANGES: &str = r#"
    [input]
    table = "people.csv"
    [columns]
    age = { role = "quasi", type = "number", step = 10 }
    pay = { role = "quasi", type = "number", domain = [0, 2000] }
    kind = "quasi"
    ward = "sensitive"
    [promise]
    k-anonymity = 8
    [method]
    name = "mondrian"
    cells = "interval"
    [release]
    shares = "none"
    calibration = "none"
"#;

#[test]
fn one_even_class_answers_as_nothing_learned() {
    let mut table = String::from("age,pay,kind,ward\n");
    for row in 0..700u32 {
        let (age, pay) = (20 + row * 7 % 61, row * row % 1_999);
        let kind = ["a", "b", "c"][(row * row % 7 % 3) as usize];
        let pay = if row % 41 == 0 { String::new() } else { pay.to_string() };
        writeln!(table, "{age},{pay},{kind},{}", row % 4).unwrap();
    }
    {
        let spec = Spec::parse(RANGES, "recipe.toml").unwrap();
        let given = [("people.csv".to_owned(), Input::Bytes(table.clone().into()))];
        let request = Request { seed: Some(3), ..Request::in_memory(&spec, given) };
        let published = publish(request, &Unwatched).unwrap();
        let read = || Evidence::read(&published.release, &Unwatched).unwrap();
        let (even, learned) =
            (read().with_model(Model::Even), read().with_model(Model::Learned));
        assert!(learn_even(&learned, &Unwatched).unwrap());
        for question in [
            "SELECT COUNT(*) WHERE age BETWEEN 33 AND 47",
            "SELECT COUNT(*) WHERE pay < 555 AND kind = 'b'",
            "SELECT kind, COUNT(*) WHERE age < 44 AND pay > 300 GROUP BY kind",
            "SELECT COUNT(*) WHERE pay IS NULL OR age = 30",
            "SELECT SUM(pay) WHERE age > 41",
            "SELECT AVG(age) WHERE pay BETWEEN 100 AND 900 AND ward = '2'",
            "SELECT SHARE(age < 33) WHERE pay > 700",
        ] {
            let query = Query::parse(question).unwrap();
            assert_eq!(learned.model_of(&query).unwrap(), Model::Learned);
            let ask = |evidence: &Evidence| {
                evidence.answer_by_law(&query, Way::Inverse).unwrap()
            };
            let (even, learned) = (ask(&even), ask(&learned));
            assert_eq!(even.len(), learned.len(), "{question}");
            for (even, learned) in even.iter().zip(&learned) {
                let near = |a: f64, b: f64| (a - b).abs() <= 2e-6 * (1.0 + a.abs());
                assert!(near(even.count, learned.count), "{question}: {learned:?}");
                let errors = (even.standard_error, learned.standard_error);
                let same = matches!(errors, (Some(a), Some(b)) if near(a, b));
                assert!(same, "{question}: {errors:?}");
                assert_eq!(even.values, learned.values);
                assert_eq!(
                    (even.at_least, even.at_most),
                    (learned.at_least, learned.at_most)
                );
            }
        }
    }
}
