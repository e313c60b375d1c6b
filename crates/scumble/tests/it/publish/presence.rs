//! Methods under a promise about presence: by coins unless a recipe asks for free looks.

use scumble::error::Result;
use scumble::method::Plan;
use scumble::recipe::{Published, Request, Spec, publish};
use scumble::table::Input;
use scumble::watch::Unwatched;
use serde_json::json;

use crate::builder::attack;

fn person(id: usize) -> String {
    let (age, town) =
        (18 + id * 13 % 67, ["Ghent", "Bruges", "Aalst", "Leuven"][id % 4]);
    let illness = ["flu", "cough", "ulcer"][id * 7 % 3];
    format!("{id},{age},{town},{illness}\n")
}

fn people(who: impl Fn(usize) -> bool) -> String {
    let lines: String = (0..900).filter(|id| who(*id)).map(person).collect();
    format!("id,age,town,illness\n{lines}")
}

/// Publishes the people whose number leaves this rest when divided by 9.
fn made(
    rest: usize,
    promise: &str,
    method: &str,
    plan: Option<Plan>,
) -> Result<Published> {
    seeded(None, rest, promise, method, plan)
}

fn seeded(
    seed: Option<u64>,
    rest: usize,
    promise: &str,
    method: &str,
    plan: Option<Plan>,
) -> Result<Published> {
    let recipe = format!(
        "[input]\ntable = \"table\"\npopulation = \"city\"\nkey = \"id\"\n[columns]\n\
         id = \"identifier\"\nage = {{ role = \"quasi\", step = 1 }}\n\
         town = \"quasi\"\nillness = \"sensitive\"\n[promise]\n{promise}\n\
         [method]\n{method}\n"
    );
    let spec = Spec::parse(&recipe, "recipe.toml")?;
    let bytes = |text: String| Input::Bytes(text.into_bytes());
    let inputs = [
        ("table".to_owned(), bytes(people(|id| id * id % 83 % 9 == rest))),
        ("city".to_owned(), bytes(people(|_| true))),
    ];
    publish(Request { plan, seed, ..Request::in_memory(&spec, inputs) }, &Unwatched)
}

const RANGE: &str = "delta-presence = { min = 0.0, max = 0.2 }";

fn outside(made: &Published) -> u64 {
    attack(&made.audit, "reversal").detail["outside"].as_u64().unwrap()
}

#[test]
fn coins_are_the_default_and_reversal_finds_nobody() {
    for promise in [
        RANGE,
        "delta-presence = { min = 0.05, max = 0.3 }",
        "delta-presence = { max = 0.2 }\nk-anonymity = 3",
        "delta-presence = { max = 0.2 }\nk-map = 20",
    ] {
        let made = made(2, promise, "", None).unwrap();
        assert_eq!(made.manifest.method.name, "mondrian", "{promise}");
        assert_eq!(made.manifest.method.parameters["looks"], json!("coins"));
        assert!(made.search.n_groups > 5, "{promise}: {}", made.search.n_groups);
        assert!(made.search.tried.is_empty(), "nothing was compared");
        assert_eq!(outside(&made), 0, "{promise}");
        let told = |words: &str| {
            made.manifest.not_promised.iter().any(|line| line.contains(words))
        };
        assert!(!told("the search") && !told("minimality") && !told("freely"));
    }
}

#[test]
fn free_looks_are_marked_and_found_out() {
    let free = made(2, RANGE, "name = \"mondrian\"\nlooks = \"free\"", None).unwrap();
    assert_eq!(free.manifest.method.parameters["looks"], json!("free"));
    let freely = "looked at freely, for comparison only";
    assert!(free.manifest.not_promised.iter().any(|line| line.contains(freely)));
    assert!(outside(&free) > 5, "{}", outside(&free));
    assert!(!free.plan.safe);
}

/// What looks at values, at levels, or at nodes goes to full-domain, as before.
#[test]
fn what_coins_cannot_do_is_left_to_full_domain() {
    let values = format!("{RANGE}\nl-diversity = 2");
    let made_by = |promise: &str, method: &str| {
        made(2, promise, method, None).map(|made| made.manifest.method.name.clone())
    };
    assert_eq!(made_by(&values, "").unwrap(), "full-domain");
    assert_eq!(made_by(RANGE, "cells = \"taxonomy\"").unwrap(), "full-domain");
    assert_eq!(made_by(RANGE, "name = \"full-domain\"").unwrap(), "full-domain");
    let error = made_by(&values, "name = \"mondrian\"").unwrap_err().to_string();
    assert!(
        error.contains("cuts cannot hide presence beside `l-diversity`"),
        "{error}"
    );
    let free = "name = \"mondrian\"\nlooks = \"free\"";
    assert_eq!(made_by(&values, free).unwrap(), "mondrian");
}

/// Levels are looked at by coins, too, and the manifest names the one that was refused.
#[test]
fn levels_are_looked_at_by_coins_unless_asked_otherwise() {
    for promise in [
        RANGE,
        "delta-presence = { min = 0.05, max = 0.3 }",
        "delta-presence = { max = 0.2 }\nk-anonymity = 3",
        "delta-presence = { max = 0.2 }\nk-map = 20",
        "delta-presence = { max = 0.11 }",
    ] {
        for seed in 1..=6 {
            let method = "name = \"full-domain\"\nsuppression = 0.5";
            let made = seeded(Some(seed), 2, promise, method, None).unwrap();
            let parameters = &made.manifest.method.parameters;
            assert_eq!(parameters["looks"], json!("coins"), "{promise}");
            assert_eq!((made.manifest.left_out, made.plan.safe), (0, true));
            assert!(made.audit.holds(), "{promise}");
            let told = |words: &str| {
                made.manifest.not_promised.iter().any(|line| line.contains(words))
            };
            assert!(!told("the search") && !told("minimality") && !told("freely"));
            assert_eq!(outside(&made), 0, "{promise} {seed}");
            let events = &attack(&made.audit, "reversal").detail["events"];
            let refused = u64::from(parameters.contains_key("refused"));
            assert_eq!(*events, json!(refused), "{promise} {seed}");
        }
    }
    let free = "name = \"full-domain\"\nlooks = \"free\"";
    let free = made(2, RANGE, free, None).unwrap();
    assert_eq!(free.manifest.method.parameters["looks"], json!("free"));
    let freely = "which levels failed: these were looked at freely";
    assert!(free.manifest.not_promised.iter().any(|line| line.contains(freely)));
    assert!(!free.plan.safe);
    let values = format!("{RANGE}\nl-diversity = 2");
    let coins = "name = \"full-domain\"\nlooks = \"coins\"";
    let error = made(2, &values, coins, None).unwrap_err().to_string();
    assert!(
        error.contains("levels cannot hide presence beside `l-diversity`"),
        "{error}"
    );
}

/// Weights tell nothing by default; those of the table are marked.
#[test]
fn weights_beside_coins_are_those_of_the_population() {
    let kind = |made: &Published| made.manifest.weights().unwrap().kind;
    let pdf = made(2, RANGE, "cells = \"pdf\"", None).unwrap();
    assert_eq!(
        (kind(&pdf).as_str(), pdf.manifest.method.name.as_str()),
        ("population", "mondrian")
    );
    let counted = "cells = { kind = \"pdf\", weights = \"counted\" }";
    let counted = made(2, RANGE, counted, None).unwrap();
    assert_eq!(kind(&counted), "counted");
    assert!(counted.audit.holds());
    let own = "weights that are the table's own";
    let marked = |made: &Published| {
        made.manifest.not_promised.iter().any(|line| line.contains(own))
    };
    assert!(marked(&counted) && !marked(&pdf));
}

/// Nothing is left out: neither by cuts, nor by a plan that takes their place.
#[test]
fn a_plan_of_coins_is_followed_where_it_leaves_nothing_out() {
    let coins = "name = \"mondrian\"\nsuppression = 0.5";
    let first = made(2, RANGE, coins, None).unwrap();
    assert_eq!(first.manifest.left_out, 0);
    let again = made(2, RANGE, coins, Some(first.plan.clone())).unwrap();
    assert_eq!(again.search.n_groups, first.search.n_groups);
    assert_eq!(outside(&again), 0);
    assert!(again.plan.safe && first.plan.safe);
    let error = made(3, RANGE, coins, Some(first.plan)).unwrap_err();
    assert!(error.to_string().contains("leaving groups out would tell"), "{error}");
    let free = made(2, RANGE, "name = \"mondrian\"\nlooks = \"free\"", None).unwrap();
    let error = made(2, RANGE, coins, Some(free.plan)).unwrap_err();
    assert!(error.to_string().contains("looking at its table freely"), "{error}");
    let levels = made(2, RANGE, "name = \"full-domain\"", None).unwrap();
    let error = made(2, RANGE, "", Some(levels.plan)).unwrap_err();
    assert!(error.to_string().contains("names no method means `mondrian`"), "{error}");
}

#[test]
fn the_same_seed_gives_the_same_cuts_whatever_the_threads() {
    let rows = |seed: u64, threads: usize| {
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let made = pool.install(|| seeded(Some(seed), 2, RANGE, "", None).unwrap());
        made.release.store().read("data.csv").unwrap()
    };
    assert_eq!(rows(1, 1), rows(1, 3));
    let others: Vec<Vec<u8>> = (2..8).map(|seed| rows(seed, 2)).collect();
    assert!(others.iter().any(|other| *other != rows(1, 2)), "coins fall");
}
