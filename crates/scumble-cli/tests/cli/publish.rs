//! What users see: exit code, standard output and standard error of real runs.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const PATIENTS: &str = "name,age,sex,illness\n\
    Ann,31,f,flu\nBob,33,m,cough\nCat,35,f,flu\nDan,38,m,ulcer\n\
    Eve,52,f,flu\nFay,55,f,cough\nGus,57,m,ulcer\nHal,58,m,flu\n";

const RECIPE: &str = "[input]\ntable = \"patients.csv\"\n\n[columns]\nname = \"identifier\"\n\
    age = { role = \"quasi\", hierarchy = { widths = [10, 20] } }\n\
    illness = \"sensitive\"\n\n[promise]\nk-anonymity = 4\n\n[method]\nname = \"full-domain\"\n";

/// A folder with a table and a recipe.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("patients.csv"), PATIENTS).unwrap();
    fs::write(home.path().join("recipe.toml"), RECIPE).unwrap();
    home
}

/// Exit code, standard output and standard error, without what differs between runs.
fn run_with(home: &Path, arguments: &[&str], input: &[u8]) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_scumble"))
        .args(arguments)
        .current_dir(home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that stops early does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    format!(
        "exit {}\n--- out\n{}--- err\n{}",
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap()
    )
}

fn run(home: &Path, arguments: &[&str]) -> String {
    run_with(home, arguments, b"")
}

#[test]
fn publish_says_what_it_did() {
    let home = home();
    insta::assert_snapshot!(run(home.path(), &["publish", "recipe.toml"]));
    insta::assert_snapshot!(
        fs::read_to_string(home.path().join("release/data.csv")).unwrap()
    );
    insta::assert_snapshot!(
        fs::read_to_string(home.path().join("release/manifest.json")).unwrap()
    );
}

#[test]
fn audit_rechecks_and_attacks() {
    let home = home();
    run(home.path(), &["publish", "recipe.toml"]);
    insta::assert_snapshot!(run(home.path(), &["audit", "release"]));
    let with = ["audit", "release", "--original", "patients.csv"];
    insta::assert_snapshot!(run(home.path(), &with));
}

#[test]
fn json_has_the_keys_that_others_rely_on() {
    let home = home();
    for arguments in [
        vec!["publish", "recipe.toml", "--json"],
        vec!["audit", "release", "--original", "patients.csv", "--json"],
    ] {
        let text = run(home.path(), &arguments);
        let json =
            text.split("--- out\n").nth(1).unwrap().split("--- err").next().unwrap();
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(value["schema"], 1);
        assert_eq!(value["rows"], 8);
        assert_eq!(value["method"]["name"], "full-domain");
        assert_eq!(value["method"]["levels"]["age"], 1);
        assert_eq!(value["promises"][0]["name"], "k-anonymity");
        assert_eq!(value["promises"][0]["asked"]["k"], 4);
        assert_eq!(value["promises"][0]["measured"]["k"], 4);
        assert_eq!(value["promises"][0]["holds"], true);
        assert_eq!(value["promises"][0]["rows_at_risk"], 0);
        assert_eq!(value["attacks"][0]["name"], "linkage");
        assert_eq!(value["attacks"][0]["worst"], 0.25);
        assert!(value["loss"]["discernibility"].is_number());
        assert!(value["seconds"]["read"].is_number());
    }
}

#[test]
fn mistakes_get_an_error_and_write_nothing() {
    let home = home();
    let mut seen = String::new();
    let mut case = |what: &str, table: &[u8], recipe: &str| {
        fs::write(home.path().join("patients.csv"), table).unwrap();
        fs::write(home.path().join("recipe.toml"), recipe).unwrap();
        let outcome = run(home.path(), &["publish", "recipe.toml"]);
        seen.push_str(&format!("# {what}\n{outcome}\n"));
        let left: Vec<_> = fs::read_dir(home.path()).unwrap().collect();
        assert_eq!(left.len(), 2, "{what} left something behind");
    };
    let patients = PATIENTS.as_bytes();
    case("ragged row", b"name,age,sex,illness\nAnn,31,f,flu\nBob,33,m\n", RECIPE);
    case(
        "unclosed quote",
        b"name,age,sex,illness\nAnn,31,\"f,flu\nBob,33,m,flu\n",
        RECIPE,
    );
    case("not UTF-8", b"name,age,sex,illness\nAnn,31,f,gr\xfcn\n", RECIPE);
    case("empty file", b"", RECIPE);
    case("header only", b"name,age,sex,illness\n", RECIPE);
    case("two columns of a name", b"name,age,age,illness\nAnn,31,f,flu\n", RECIPE);
    case("unknown key", patients, &RECIPE.replace("[method]", "[methd]"));
    case("unknown role", patients, &RECIPE.replace("\"sensitive\"", "\"sensitve\""));
    case("column the table lacks", patients, &RECIPE.replace("illness", "ilness"));
    case("k = 0", patients, &RECIPE.replace("k-anonymity = 4", "k-anonymity = 0"));
    case(
        "k above the rows",
        patients,
        &RECIPE.replace("k-anonymity = 4", "k-anonymity = 9"),
    );
    case("suppression", patients, &format!("{RECIPE}suppression = -0.1\n"));
    case("no quasi column", patients, &RECIPE.replace("\"quasi\"", "\"sensitive\""));
    case("a method that cannot", patients, &RECIPE.replace("full-domain", "blur"));
    case("broken TOML", patients, &RECIPE.replace("[columns]", "[columns"));
    case("no table", patients, &RECIPE.replace("patients.csv", "nobody.csv"));
    insta::assert_snapshot!(seen);
}

#[test]
fn an_existing_release_is_kept_unless_forced() {
    let home = home();
    run(home.path(), &["publish", "recipe.toml"]);
    let before = fs::read(home.path().join("release/data.csv")).unwrap();
    fs::write(home.path().join("recipe.toml"), RECIPE.replace("= 4", "= 5")).unwrap();
    insta::assert_snapshot!(run(home.path(), &["publish", "recipe.toml"]));
    assert_eq!(fs::read(home.path().join("release/data.csv")).unwrap(), before);
    let forced = run(home.path(), &["publish", "recipe.toml", "--force", "--quiet"]);
    assert_eq!(forced, "exit 0\n--- out\n--- err\n");
    assert_ne!(fs::read(home.path().join("release/data.csv")).unwrap(), before);
    // What cannot be met leaves the old release where it is.
    fs::write(home.path().join("recipe.toml"), RECIPE.replace("= 4", "= 9")).unwrap();
    let failed = run(home.path(), &["publish", "recipe.toml", "--force"]);
    assert!(failed.starts_with("exit 1\n"), "{failed}");
    assert!(home.path().join("release/data.csv").exists());
}

#[test]
fn a_table_comes_from_standard_input() {
    let home = home();
    fs::write(home.path().join("recipe.toml"), RECIPE.replace("patients.csv", "-"))
        .unwrap();
    let outcome =
        run_with(home.path(), &["publish", "recipe.toml", "-q"], PATIENTS.as_bytes());
    assert_eq!(outcome, "exit 0\n--- out\n--- err\n");
}

#[test]
fn a_plan_is_written_for_its_owner_and_applied() {
    let home = home();
    let publish = ["publish", "recipe.toml", "-q", "--plan", "plan.json"];
    assert_eq!(run(home.path(), &publish), "exit 0\n--- out\n--- err\n");
    let first = fs::read(home.path().join("release/data.csv")).unwrap();
    let again = ["publish", "recipe.toml", "-q", "--force", "--use-plan", "plan.json"];
    assert_eq!(run(home.path(), &again), "exit 0\n--- out\n--- err\n");
    assert_eq!(fs::read(home.path().join("release/data.csv")).unwrap(), first);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode =
            fs::metadata(home.path().join("plan.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0);
    }
}

#[test]
fn a_changed_file_is_noticed() {
    let home = home();
    run(home.path(), &["publish", "recipe.toml"]);
    let path = home.path().join("release/data.csv");
    let changed = fs::read_to_string(&path).unwrap().replacen("flu", "flx", 1);
    fs::write(&path, changed).unwrap();
    insta::assert_snapshot!(run(home.path(), &["audit", "release"]));
}

#[test]
fn a_wrong_call_exits_with_2() {
    let home = home();
    for arguments in
        [&["publish"][..], &["publsh"], &["audit", "nowhere"], &["publish", "x"]]
    {
        let outcome = run(home.path(), arguments);
        assert!(outcome.starts_with("exit 2\n--- out\n--- err\nerror"), "{outcome}");
    }
}

#[test]
fn a_table_given_for_a_recipe_leads_to_inspect() {
    let home = home();
    let outcome = run(home.path(), &["publish", "patients.csv"]);
    assert!(outcome.starts_with("exit 2\n"), "{outcome}");
    assert!(outcome.contains("scumble inspect patients.csv"), "{outcome}");
}

#[test]
fn a_plan_never_replaces_something_else() {
    let home = home();
    let publish = ["publish", "recipe.toml", "--force", "--plan", "patients.csv"];
    let outcome = run(home.path(), &publish);
    assert!(outcome.starts_with("exit 2\n"), "{outcome}");
    assert_eq!(fs::read_to_string(home.path().join("patients.csv")).unwrap(), PATIENTS);
    assert!(!home.path().join("release").exists());
}

#[test]
fn a_plan_is_for_its_own_method() {
    let home = home();
    run(home.path(), &["publish", "recipe.toml", "-q", "--plan", "plan.json"]);
    let other = RECIPE.replace("full-domain", "mondrian");
    fs::write(home.path().join("recipe.toml"), other).unwrap();
    let again = ["publish", "recipe.toml", "--force", "--use-plan", "plan.json"];
    let outcome = run(home.path(), &again);
    assert!(outcome.contains("the plan was made by `full-domain`"), "{outcome}");
}

#[test]
fn inspect_proposes_a_recipe_that_publishes() {
    let home = home();
    let outcome =
        run(home.path(), &["inspect", "patients.csv", "--recipe", "mine.toml"]);
    assert!(outcome.starts_with("exit 0\n"), "{outcome}");
    assert!(!outcome.contains("Ann"), "a value of the table was shown");
    let published = run(home.path(), &["publish", "mine.toml"]);
    assert!(published.starts_with("exit 0\n"), "{published}");
}

#[test]
fn demo_runs_from_nothing() {
    let home = tempfile::tempdir().unwrap();
    let outcome = run(home.path(), &["demo"]);
    assert!(outcome.starts_with("exit 0\n"), "{outcome}");
    assert!(outcome.contains("mondrian"), "{outcome}");
    let audit =
        ["audit", "scumble-demo/mondrian", "--original", "scumble-demo/patients.csv"];
    assert!(run(home.path(), &audit).starts_with("exit 0\n"));
    // The recipe of the README runs as written.
    let readme = include_str!("../../../../README.md");
    let recipe = readme.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    fs::write(home.path().join("scumble-demo/mine.toml"), recipe).unwrap();
    let mine = run(home.path(), &["publish", "scumble-demo/mine.toml"]);
    assert!(mine.starts_with("exit 0\n"), "{mine}");
}

#[test]
fn presence_is_audited_with_the_population() {
    let home = home();
    let path = home.path();
    let table: Vec<&str> = PATIENTS.lines().collect();
    fs::write(path.join("sample.csv"), [table[0], table[2], table[5]].join("\n"))
        .unwrap();
    let recipe = RECIPE
        .replace("patients.csv\"", "sample.csv\"\npopulation = \"patients.csv\"")
        .replace("k-anonymity = 4", "delta-presence = { min = 0.2, max = 0.3 }");
    fs::write(path.join("recipe.toml"), recipe).unwrap();
    assert!(run(path, &["publish", "recipe.toml"]).starts_with("exit 0"));

    let alone = run(path, &["audit", "release"]);
    assert!(alone.starts_with("exit 2"), "{alone}");
    assert!(alone.contains("hint: give it with `--population FILE`"), "{alone}");
    let with = ["audit", "release", "--population", "patients.csv"];
    let public = run(path, &with);
    assert!(public.starts_with("exit 0") && public.contains("presence"), "{public}");
    assert!(!public.contains("\nlinkage"), "that needs the table: {public}");
    let both = run(path, &[&with[..], &["--original", "sample.csv"]].concat());
    assert!(both.starts_with("exit 0") && both.contains("linkage"), "{both}");
    let other = run(path, &["audit", "release", "--population", "sample.csv"]);
    assert!(other.contains("NO, ") && other.starts_with("exit 1"), "{other}");
}

#[test]
fn formulas_are_warned_of_or_guarded() {
    let home = home();
    let patients = PATIENTS.replace("ulcer", "=1+1");
    fs::write(home.path().join("patients.csv"), patients).unwrap();
    let plain = run(home.path(), &["publish", "recipe.toml"]);
    let warning = "2 cells would be taken for a formula by a spreadsheet";
    assert!(plain.contains(warning), "{plain}");
    let arguments = ["publish", "recipe.toml", "--force", "--spreadsheet-safe"];
    let safe = run(home.path(), &arguments);
    assert!(safe.starts_with("exit 0") && !safe.contains(warning), "{safe}");
    let rows = fs::read_to_string(home.path().join("release/data.csv")).unwrap();
    assert!(rows.contains(",'=1+1\n") && !rows.contains(",=1+1\n"), "{rows}");
    let audit = ["audit", "release", "--original", "patients.csv"];
    assert!(run(home.path(), &audit).starts_with("exit 0"));
    let ask =
        ["estimate", "release", "SELECT COUNT(*) WHERE illness = '=1+1'", "--json"];
    let answer = run(home.path(), &ask);
    assert!(answer.starts_with("exit 0") && answer.contains("2.0"), "{answer}");
}
