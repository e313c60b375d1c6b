//! What a recipe can get wrong, and what is said about it, word for word.

use crate::recipe::Spec;
use crate::recipe::methods::methods;
use crate::recipe::spec_tests::recipe;

/// The error with its hints, each on a line of its own.
fn message(text: &str) -> String {
    let checked = Spec::parse(text, "r").and_then(|spec| methods(&spec).map(|_| spec));
    let error = checked.expect_err("refused");
    assert!(error.place().is_some_and(|place| place.position.is_some()));
    assert_eq!(error.exit_code(), 2);
    let hints: String = error.hints().iter().map(|hint| format!("\n{hint}")).collect();
    format!("{error}{hints}")
}

fn in_input(line: &str) -> String {
    message(&recipe(line, "a = \"quasi\"", "k-anonymity = 2"))
}

fn in_columns(line: &str) -> String {
    message(&recipe("table = \"t\"", line, "k-anonymity = 2"))
}

fn in_promise(line: &str) -> String {
    message(&recipe("table = \"t\"", "a = \"quasi\"", line))
}

fn in_method(line: &str) -> String {
    let small = recipe("table = \"t\"", "a = \"quasi\"", "k-anonymity = 2");
    message(&format!("{small}[method]\n{line}\n"))
}

#[test]
fn broken_toml_has_a_place() {
    assert_eq!(
        message("[input]\ntable = \n"),
        "r:2:9: not valid TOML: string values must be quoted, expected literal string"
    );
    assert_eq!(
        message("[input]\na = 1\na = 2\n"),
        "r:3:1: not valid TOML: duplicate key\n\
         everything is said once: a promise of several columns lists them, `columns = [...]`"
    );
}

#[test]
fn an_unknown_key_gets_the_nearest_one() {
    assert_eq!(
        message("[input]\ntable = \"t\"\n[colums]\n"),
        "r:3:2: unknown key `colums`\ndid you mean `columns`?"
    );
    assert_eq!(
        in_input("table = \"t\"\nmising = []"),
        "r:3:1: unknown key `mising` in `input`\ndid you mean `missing`?"
    );
    assert_eq!(
        in_input("tabel = \"t\""),
        "r:2:1: unknown key `tabel` in `input`\ndid you mean `table`?"
    );
    assert_eq!(
        in_columns("\"é\" = { role = \"quasi\", colour = 1 }"),
        "r:4:25: unknown key `colour` in `é`\nknown: `type`, `format`, `hierarchy`, \
         `lowest`, `highest`, `weight`, `step`, `domain`, `role`"
    );
}

#[test]
fn what_is_required_is_asked_for() {
    assert_eq!(message(""), "r:1:1: `[input]` is missing");
    assert_eq!(message("[input]\ntable = \"t\""), "r:1:1: `[columns]` is missing");
    assert_eq!(in_input(""), "r:1:1: `table` is missing in `input`");
    assert_eq!(in_columns(""), "r:3:1: `[columns]` names no column");
    assert_eq!(
        in_promise(""),
        "r:5:1: `[promise]` promises nothing\nwrite a promise, as in `k-anonymity = 5`"
    );
    assert_eq!(
        in_columns("a = { type = \"date\" }"),
        "r:4:5: `role` is missing in `a`"
    );
    assert_eq!(
        in_promise("k-anonymity = {}"),
        "r:6:15: `k` is missing in `k-anonymity`"
    );
}

#[test]
fn mistakes_in_the_input_are_told() {
    assert_eq!(
        in_input("table = 3"),
        "r:2:9: `table` is the integer 3, but must be a string"
    );
    assert_eq!(
        in_input("table = \"t\"\nkey = 3"),
        "r:3:7: `key` is the integer 3, but must be a string or a list of strings"
    );
    assert_eq!(
        in_input("table = \"t\"\nmissing = [\"\", 9]"),
        "r:3:16: `missing` is the integer 9, but must be a string"
    );
    assert_eq!(
        in_input("table = \"t\"\ndelimiter = \"||\""),
        "r:3:13: `delimiter` is the string \"||\", but must be one ASCII character or \"tab\""
    );
    assert_eq!(
        message("input = 1\ncolumns = 2\npromise = 3"),
        "r:1:9: `input` is the integer 1, but must be a table"
    );
}

#[test]
fn mistakes_in_columns_are_told() {
    assert_eq!(
        in_columns("a = \"quasy\""),
        "r:4:5: unknown role `quasy`\ndid you mean `quasi`?"
    );
    assert_eq!(
        in_columns("a = \"secret\""),
        "r:4:5: unknown role `secret`\nknown: `identifier`, `quasi`, `sensitive`, `other`, `drop`"
    );
    assert_eq!(
        in_columns("a = true"),
        "r:4:5: `a` is true, but must be a role or a table"
    );
    let with = |rest: &str| in_columns(&format!("a = {{ role = \"quasi\", {rest} }}"));
    assert_eq!(
        with("type = \"numbr\""),
        "r:4:30: unknown type `numbr`\ndid you mean `number`?"
    );
    assert_eq!(
        with("format = \"%Q\""),
        "r:4:32: `%Q` is not a date format\nwrite it as in `%d.%m.%Y`"
    );
    assert_eq!(with("weight = 0"), "r:4:32: `weight` is 0, but must be positive");
    assert_eq!(
        with("weight = inf"),
        "r:4:32: `weight` is inf, but must be a finite number"
    );
    assert_eq!(with("lowest = -1"), "r:4:32: `lowest` is -1, but must be at least 0");
    assert_eq!(
        with("lowest = 2, highest = 1"),
        "r:4:45: `highest` is 1, but must be at least `lowest`, which is 2"
    );
    assert_eq!(with("domain = [\"x\", \"x\"]"), "r:4:32: `domain` has `x` twice");
}

#[test]
fn mistakes_in_hierarchies_are_told() {
    let with = |rest: &str| {
        in_columns(&format!("a = {{ role = \"quasi\", hierarchy = {{ {rest} }} }}"))
    };
    assert_eq!(
        with("widths = [5, 12]"),
        "r:4:46: width 12 is not a multiple of width 5, so that some values would have \
         two parents\nlet each width be a multiple of the one before, as in \
         [5, 10, 20, 40]"
    );
    assert_eq!(
        with("widths = [5], mask = \"left\""),
        "r:4:35: the hierarchy has 2 kinds, but must have one\n\
         write one of `csv`, `widths`, `cuts`, `mask`, `dates`, `template`, `quantiles`, \
         `order`"
    );
    assert_eq!(
        with("mask = \"left\", origin = 1"),
        "r:4:61: `origin` goes with `widths` only"
    );
    assert_eq!(
        with("mask = \"rigth\""),
        "r:4:44: unknown side `rigth`\ndid you mean `right`?"
    );
    assert_eq!(
        with("dates = [\"year\", \"month\"]"),
        "r:4:45: `month` comes after `year`, but levels must get coarser\n\
         the order is `day`, `month`, `quarter`, `year`, `decade`"
    );
    assert_eq!(
        with("dates = [\"yeer\"]"),
        "r:4:46: unknown part of the calendar `yeer`\ndid you mean `year`?"
    );
    assert_eq!(
        with("cuts = [[1, 2], 3]"),
        "r:4:53: `cuts` is the integer 3, but must be a list of numbers"
    );
}

#[test]
fn mistakes_in_promises_are_told() {
    for promise in ["k-anonymity = { k = 1 }", "k-anonymity =       1"] {
        assert_eq!(
            in_promise(promise),
            "r:6:21: `k` is 1, but must be at least 2\nk = 1 asks for no protection"
        );
    }
    assert_eq!(
        in_promise("k-anonymity = 2.5"),
        "r:6:15: `k` is the number 2.5, but must be an integer"
    );
    assert_eq!(
        in_promise("k-anonimity = 5"),
        "r:6:1: unknown promise `k-anonimity`\ndid you mean `k-anonymity`?"
    );
    assert_eq!(
        in_promise("expected-anonymity = 1"),
        "r:6:22: `k` is 1, but must be above 1\nk = 1 asks for no protection"
    );
    assert_eq!(
        in_promise("expected-anonymity = { k = true }"),
        "r:6:28: `k` is true, but must be a number, or the name of a column with a number \
         for each row"
    );
    assert_eq!(
        in_promise("expected-anonymity = { k = 5, strict = 1 }"),
        "r:6:40: `strict` is the integer 1, but must be true or false"
    );
    assert_eq!(
        in_promise("expected-anonymity = { k = 5, best-guess = 2 }"),
        "r:6:44: `best-guess` is 2, but must be above 0 and below 1\n\
         it is how often the best guess may be right, such as 0.1"
    );
    assert_eq!(
        in_promise("delta-presence = 0.5"),
        "r:6:18: `delta-presence` is the number 0.5, but must be a table, as in \
         `{ min = 0.0, max = 0.5 }`"
    );
    assert_eq!(
        in_promise("delta-presence = { min = 0.5, max = 0.2 }"),
        "r:6:26: `min` is 0.5, but must be at most `max`, 0.2\n\
         `min` and `max` bound the share of a group in the table"
    );
    assert_eq!(
        in_promise("delta-presence = { max = 1.5 }"),
        "r:6:26: `max` is 1.5, but must be from 0 to 1\n\
         it is a share of the people in a group"
    );
    assert_eq!(
        in_promise("delta-presence = { max = 0.0 }"),
        "r:6:26: `max` is 0, but must be above 0\n\
         with max = 0 nobody may be in the table"
    );
    assert_eq!(
        in_promise("delta-presence = { min = 0.1 }"),
        "r:6:18: `max` is missing in `delta-presence`"
    );
    assert_eq!(
        in_promise("delta-presence = { max = 0.5, adversary = \"papr\" }"),
        "r:6:43: unknown adversary `papr`\ndid you mean `paper`?"
    );
    assert_eq!(
        in_promise("delta-presence = { max = 0.5, shift = \"exact\" }"),
        "r:6:39: `shift` goes with `adversary = \"paper\"` only"
    );
    assert_eq!(
        in_promise("l-diversity = 1"),
        "r:6:15: `l` is 1, but must be at least 2\nl = 1 asks for no protection"
    );
    assert_eq!(
        in_promise("l-diversity = { l = 1.5 }"),
        "r:6:21: `l` is the number 1.5, but must be an integer"
    );
    assert_eq!(
        in_promise("l-diversity = { l = 1.0, kind = \"entropy\" }"),
        "r:6:21: `l` is 1.0, but must be above 1\nl = 1 asks for no protection"
    );
    assert_eq!(
        in_promise("l-diversity = { l = 2, kind = \"recursive\" }"),
        "r:6:31: `kind` is `recursive`, but `c` is missing\n\
         write `c = 2.5`, or `kind = \"recursive(2.5)\"`"
    );
    assert_eq!(
        in_promise("l-diversity = { l = 2, kind = \"recursive(x)\" }"),
        "r:6:31: `c` is x, but must be positive, as in `recursive(2.5)`"
    );
    assert_eq!(
        in_promise("l-diversity = { l = 2, c = 3 }"),
        "r:6:28: `c` goes with `kind = \"recursive\"` only"
    );
    assert_eq!(
        in_promise("l-diversity = { l = 2, c = 0, kind = \"recursive\" }"),
        "r:6:28: `c` is 0, but must be positive"
    );
    assert_eq!(
        in_promise("t-closeness = 1.5"),
        "r:6:15: `t` is 1.5, but must be above 0 and at most 1"
    );
    assert_eq!(
        in_promise("t-closeness = { t = 0.1, distance = \"equl\" }"),
        "r:6:37: unknown distance `equl`\ndid you mean `equal`?"
    );
    let nothing = "0 would ask that groups tell nothing at all";
    for (promise, wanted) in [
        (
            "beta-likeness = 0",
            format!("r:6:17: `beta` is 0, but must be above 0\n{nothing}"),
        ),
        (
            "beta-likeness = { beta = -1.5 }",
            format!("r:6:26: `beta` is -1.5, but must be above 0\n{nothing}"),
        ),
        (
            "beta-likeness = nan",
            "r:6:17: `beta` is nan, but must be a finite number".to_owned(),
        ),
        (
            "beta-likeness = { form = \"basic\" }",
            "r:6:17: `beta` is missing in `beta-likeness`".to_owned(),
        ),
        (
            "beta-likeness = { beta = 1, form = \"enhansed\" }",
            "r:6:36: unknown form `enhansed`\ndid you mean `enhanced`?".to_owned(),
        ),
        (
            "delta-disclosure = 0.0",
            format!("r:6:20: `delta` is 0.0, but must be above 0\n{nothing}"),
        ),
        (
            "delta-disclosure = { delta = inf }",
            "r:6:30: `delta` is inf, but must be a finite number".to_owned(),
        ),
        (
            "delta-disclosure = { delta = \"small\" }",
            "r:6:30: `delta` is the string \"small\", but must be a number".to_owned(),
        ),
    ] {
        assert_eq!(in_promise(promise), wanted);
    }
}

#[test]
fn mistakes_in_method_and_release_are_told() {
    assert_eq!(
        in_method("shape = \"gausian\""),
        "r:8:9: unknown shape `gausian`\ndid you mean `gaussian`?"
    );
    assert_eq!(
        in_method("levels = 65"),
        "r:8:10: `levels` is 65, but must be from 1 to 64"
    );
    assert_eq!(
        in_method("name = \"modrian\""),
        "r:8:8: unknown method `modrian`\ndid you mean `mondrian`?"
    );
    assert_eq!(
        in_method("suppression = 1.01"),
        "r:8:15: `suppression` is 1.01, but must be from 0 to 1\nit is a share: 5 % is 0.05"
    );
    assert_eq!(
        in_method("suppression = -0.1"),
        "r:8:15: `suppression` is -0.1, but must be from 0 to 1"
    );
    assert_eq!(
        in_method("cells = \"pfd\""),
        "r:8:9: unknown form of cells `pfd`\ndid you mean `pdf`?"
    );
    assert_eq!(
        in_method("cells = { kind = \"set\", weights = \"counted\" }"),
        "r:8:35: `weights` is for cells of kind `pdf`"
    );
    assert_eq!(
        in_method("cells = { kind = \"pdf\", weights = \"count\" }"),
        "r:8:35: unknown kind of weights `count`\ndid you mean `counted`?"
    );
    assert_eq!(
        in_method(
            "cells = { kind = \"pdf\", weights = \"counted\", shift = \"exact\" }"
        ),
        "r:8:9: `shift` goes with `weights = \"paper\"` only"
    );
    assert_eq!(
        in_method(
            "cells = { kind = \"pdf\", weights = \"paper\", shift = \"bounds\", steps = 3 }"
        ),
        "r:8:70: `steps` goes with `shift = \"steps\"` only"
    );
    assert_eq!(
        in_method("name = \"full-domain\"\nvalue = \"first\""),
        "r:9:9: `value` means nothing to `full-domain`\n\
         it is for `mondrian`, `perturbed-generalization`"
    );
    assert_eq!(
        in_method("strategy = \"search\"\ncolumn = \"best\""),
        "r:9:10: `column` is one choice, but `strategy = \"search\"` tries them all"
    );
    assert_eq!(
        in_method("[release]\nformat = \"xml\""),
        "r:9:10: unknown format `xml`\nknown: `csv`, `parquet`"
    );
    assert_eq!(
        in_method("[release]\ndirectory = \"\""),
        "r:9:13: `directory` is empty, but must name a folder"
    );
}

#[test]
fn deep_nesting_is_an_error() {
    let text = format!("a = {}", "[".repeat(100_000));
    assert!(Spec::parse(&text, "r").is_err());
}
