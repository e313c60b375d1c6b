//! stub
/// x
#[derive(Debug)] pub struct Classifier;
/// x
#[derive(Debug)] pub struct Verdict;
