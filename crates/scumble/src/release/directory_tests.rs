//! Releases that appear whole, one at a time.

use super::*;

#[test]
fn a_draft_that_is_dropped_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let target = home.path().join("a").join("b").join("release");
    let draft = Draft::new(&target, false).unwrap();
    draft.store().write("data.csv", b"x\n").unwrap();
    drop(draft);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn an_old_release_is_kept_unless_it_may_be_replaced() {
    let home = tempfile::tempdir().unwrap();
    let target = home.path().join("release");
    for content in ["old", "new"] {
        // A path through the old release leads to it all the same.
        let through = target.join("..").join("release");
        let path = if target.exists() { &through } else { &target };
        let draft = Draft::new(path, true).unwrap();
        let manifest = format!("{{\"software\": \"scumble {content}\"}}");
        draft.store().write(MANIFEST_FILE, manifest.as_bytes()).unwrap();
        draft.publish().unwrap();
    }
    assert!(fs::read_to_string(target.join(MANIFEST_FILE)).unwrap().contains("new"));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    let error = Draft::new(&target, false).unwrap_err();
    assert!(error.to_string().ends_with("a release exists already and is kept"));
}

fn written(target: &Path, content: &str) -> Draft {
    let draft = Draft::new(target, true).unwrap();
    let manifest = format!("{{\"software\": \"scumble {content}\"}}");
    draft.store().write(MANIFEST_FILE, manifest.as_bytes()).unwrap();
    draft
}

fn content(target: &Path) -> String {
    fs::read_to_string(target.join(MANIFEST_FILE)).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> =
        names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn two_runs_never_publish_into_one_folder() {
    let home = tempfile::tempdir().unwrap();
    let target = home.path().join("release");
    let first = written(&target, "first");
    let error = Draft::new(&target, true).unwrap_err();
    let shown = target.canonicalize().unwrap_or(target.clone());
    assert_eq!(
        error.to_string(),
        format!("{}: another run is publishing here", shown.display())
    );
    assert_eq!(
        error.hints(),
        ["wait until it has ended, or choose another `directory`"]
    );
    let other = written(&home.path().join("release-b"), "other");
    first.publish().unwrap();
    other.publish().unwrap();
    assert!(content(&target).contains("first"));
    assert_eq!(names(home.path()), ["release", "release-b"]);
    written(&target, "second").publish().unwrap();
    assert!(content(&target).contains("second"));
    assert_eq!(names(home.path()), ["release", "release-b"]);
}

/// What a run leaves that is killed at once.
fn kill(draft: Draft) {
    let Some(PendingDirectory { scratch, _lock, .. }) = draft.place else { return };
    let _ = scratch.keep();
    _lock.abandon();
}

#[test]
fn what_killed_runs_left_goes_with_the_next() {
    let home = tempfile::tempdir().unwrap();
    let target = home.path().join("release");
    kill(written(&target, "killed"));
    kill(written(&home.path().join("another"), "killed"));
    assert_eq!(names(home.path()).len(), 4);
    drop(Draft::new(&target, false).unwrap());
    let left = names(home.path());
    assert_eq!(left.len(), 2, "what belongs to another release stays: {left:?}");
    drop(Draft::new(&home.path().join("another"), false).unwrap());
    assert_eq!(names(home.path()).len(), 0);
}

#[test]
fn an_old_release_that_stepped_aside_comes_back() {
    let home = tempfile::tempdir().unwrap();
    let target = home.path().join("release");
    written(&target, "old").publish().unwrap();
    let draft = written(&target, "new");
    let aside = draft.folder().unwrap().with_extension(OLD);
    fs::rename(&target, aside).unwrap();
    kill(draft);
    let error = Draft::new(&target, false).unwrap_err().to_string();
    assert!(error.ends_with("a release exists already and is kept"), "{error}");
    assert!(content(&target).contains("old"));
    assert_eq!(names(home.path()), ["release"]);
}

#[test]
fn in_two_steps_a_release_is_replaced_as_well() {
    let home = tempfile::tempdir().unwrap();
    let (old, new) = (home.path().join("release"), home.path().join(".new"));
    for (folder, content) in [(&old, "old"), (&new, "new")] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join(MANIFEST_FILE), content).unwrap();
    }
    step_aside(&new, &old).unwrap();
    assert_eq!((content(&old).as_str(), names(home.path()).len()), ("new", 1));
    assert!(step_aside(&new, &old).is_err(), "there is none");
    assert_eq!((content(&old).as_str(), names(home.path()).len()), ("new", 1));
}

#[test]
fn a_folder_that_vanishes_is_said() {
    let home = tempfile::tempdir().unwrap();
    let around = home.path().join("here");
    let draft = written(&around.join("release"), "new");
    fs::remove_dir_all(&around).unwrap();
    let error = draft.store().write("data.csv", b"x\n").unwrap_err().to_string();
    assert!(error.ends_with("cannot write: no such file or directory"), "{error}");
    let error = draft.publish().unwrap_err().to_string();
    assert!(
        error.ends_with("cannot rename the release: no such file or directory"),
        "{error}"
    );
    assert_eq!(names(home.path()).len(), 0);
}

#[test]
fn a_folder_that_is_no_release_is_never_replaced() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("thesis.doc"), "years of work").unwrap();
    assert!(Draft::new(home.path(), true).is_err());
    // Other programs have a file of this name, too.
    fs::write(home.path().join(MANIFEST_FILE), "{\"manifest_version\": 3}").unwrap();
    assert!(Draft::new(home.path(), true).is_err());
    fs::write(home.path().join(MANIFEST_FILE), "{\"software\": \"scumble 1\"}")
        .unwrap();
    assert!(Draft::new(home.path(), true).is_err(), "the thesis is not ours");
    assert!(Draft::new(Path::new("/"), true).is_err());
}
