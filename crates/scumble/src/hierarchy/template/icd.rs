//! Chapters and blocks of the International Classification of Diseases: public facts, of the
//! World Health Organization (ICD-10, 2019) and, where they go beyond it, of the clinical
//! modifications of the United States.

/// A chapter: what it is about, and its blocks.
type Chapter = (&'static str, &'static str);

const ICD9: &[Chapter] = &[
    (
        "infectious",
        "001-009 010-018 020-027 030-041 042-042 045-049 050-059 060-066 070-079 080-088 \
         090-099 100-104 110-118 120-129 130-136 137-139",
    ),
    (
        "neoplasms",
        "140-149 150-159 160-165 170-176 179-189 190-199 200-208 209-209 210-229 230-234 \
         235-238 239-239",
    ),
    ("endocrine", "240-246 249-259 260-269 270-279"),
    ("blood", "280-289"),
    ("mental", "290-294 295-299 300-316 317-319"),
    (
        "nervous system and senses",
        "320-327 330-337 338-338 339-339 340-349 350-359 360-379 380-389",
    ),
    (
        "circulatory",
        "390-392 393-398 401-405 410-414 415-417 420-429 430-438 440-449 451-459",
    ),
    ("respiratory", "460-466 470-478 480-488 490-496 500-508 510-519"),
    ("digestive", "520-529 530-539 540-543 550-553 555-558 560-569 570-579"),
    ("genitourinary", "580-589 590-599 600-608 610-612 614-616 617-629"),
    ("pregnancy", "630-639 640-649 650-659 660-669 670-677 678-679"),
    ("skin", "680-686 690-698 700-709"),
    ("musculoskeletal", "710-719 720-724 725-729 730-739"),
    ("congenital", "740-759"),
    ("perinatal", "760-763 764-779"),
    ("symptoms", "780-789 790-796 797-799"),
    (
        "injury",
        "800-804 805-809 810-819 820-829 830-839 840-848 850-854 860-869 870-879 880-887 \
         890-897 900-904 905-909 910-919 920-924 925-929 930-939 940-949 950-957 958-959 \
         960-979 980-989 990-995 996-999",
    ),
    (
        "factors",
        "V01-V09 V10-V19 V20-V29 V30-V39 V40-V49 V50-V59 V60-V69 V70-V82 V83-V84 V85-V85 \
         V86-V86 V87-V87 V88-V88 V89-V89 V90-V90 V91-V91",
    ),
    (
        "external causes",
        "E000-E030 E800-E807 E810-E819 E820-E825 E826-E829 E830-E838 E840-E845 E846-E849 \
         E850-E858 E860-E869 E870-E876 E878-E879 E880-E888 E890-E899 E900-E909 E910-E915 \
         E916-E928 E929-E929 E930-E949 E950-E959 E960-E969 E970-E979 E980-E989 E990-E999",
    ),
];

const ICD10: &[Chapter] = &[
    (
        "infectious",
        "A00-A09 A15-A19 A20-A28 A30-A49 A50-A64 A65-A69 A70-A74 A75-A79 A80-A89 A90-A99 \
         B00-B09 B10-B10 B15-B19 B20-B24 B25-B34 B35-B49 B50-B64 B65-B83 B85-B89 B90-B94 \
         B95-B98 B99-B99",
    ),
    (
        "neoplasms",
        "C00-C14 C15-C26 C30-C39 C40-C41 C43-C44 C45-C49 C50-C50 C51-C58 C60-C63 C64-C68 \
         C69-C72 C73-C75 C76-C80 C81-C96 C97-C97 D00-D09 D10-D36 D37-D49",
    ),
    ("blood", "D50-D53 D55-D59 D60-D64 D65-D69 D70-D77 D78-D78 D80-D89"),
    (
        "endocrine",
        "E00-E07 E08-E13 E14-E14 E15-E16 E20-E35 E36-E36 E40-E46 E50-E64 E65-E68 E70-E90",
    ),
    (
        "mental",
        "F00-F09 F10-F19 F20-F29 F30-F39 F40-F48 F50-F59 F60-F69 F70-F79 F80-F89 F90-F98 \
         F99-F99",
    ),
    (
        "nervous system",
        "G00-G09 G10-G14 G20-G26 G30-G32 G35-G37 G40-G47 G50-G59 G60-G65 G70-G73 G80-G83 \
         G89-G99",
    ),
    (
        "eye",
        "H00-H06 H10-H13 H15-H22 H25-H28 H30-H36 H40-H42 H43-H45 H46-H48 H49-H52 H53-H54 \
         H55-H59",
    ),
    ("ear", "H60-H62 H65-H75 H80-H83 H90-H95"),
    (
        "circulatory",
        "I00-I02 I05-I09 I10-I15 I16-I16 I20-I25 I26-I28 I30-I52 I60-I69 I70-I79 I80-I89 \
         I95-I99",
    ),
    (
        "respiratory",
        "J00-J06 J09-J18 J20-J22 J30-J39 J40-J47 J60-J70 J80-J84 J85-J86 J90-J94 J95-J99",
    ),
    (
        "digestive",
        "K00-K14 K20-K31 K35-K38 K40-K46 K50-K52 K55-K64 K65-K68 K70-K77 K80-K87 K90-K95",
    ),
    ("skin", "L00-L08 L10-L14 L20-L30 L40-L45 L49-L54 L55-L59 L60-L75 L76-L76 L80-L99"),
    (
        "musculoskeletal",
        "M00-M03 M04-M04 M05-M14 M15-M19 M20-M25 M26-M27 M30-M36 M40-M43 M45-M49 M50-M54 \
         M60-M63 M65-M68 M70-M79 M80-M85 M86-M90 M91-M94 M95-M99",
    ),
    (
        "genitourinary",
        "N00-N08 N10-N16 N17-N19 N20-N23 N25-N29 N30-N39 N40-N53 N60-N65 N70-N77 N80-N98 \
         N99-N99",
    ),
    (
        "pregnancy",
        "O00-O08 O09-O09 O10-O16 O20-O29 O30-O48 O60-O77 O80-O84 O85-O92 O94-O99",
    ),
    (
        "perinatal",
        "P00-P04 P05-P08 P09-P09 P10-P15 P19-P29 P35-P39 P50-P61 P70-P74 P75-P78 P80-P83 \
         P84-P84 P90-P96",
    ),
    (
        "congenital",
        "Q00-Q07 Q10-Q18 Q20-Q28 Q30-Q34 Q35-Q37 Q38-Q45 Q50-Q56 Q60-Q64 Q65-Q79 Q80-Q89 \
         Q90-Q99",
    ),
    (
        "symptoms",
        "R00-R09 R10-R19 R20-R23 R25-R29 R30-R39 R40-R46 R47-R49 R50-R69 R70-R79 R80-R82 \
         R83-R89 R90-R94 R95-R99",
    ),
    (
        "injury",
        "S00-S09 S10-S19 S20-S29 S30-S39 S40-S49 S50-S59 S60-S69 S70-S79 S80-S89 S90-S99 \
         T00-T07 T08-T14 T15-T19 T20-T32 T33-T35 T36-T50 T51-T65 T66-T78 T79-T79 T80-T88 \
         T90-T98",
    ),
    (
        "external causes",
        "V00-V09 V10-V19 V20-V29 V30-V39 V40-V49 V50-V59 V60-V69 V70-V79 V80-V89 V90-V94 \
         V95-V97 V98-V99 W00-W19 W20-W49 W50-W64 W65-W74 W75-W84 W85-W99 X00-X09 X10-X19 \
         X20-X29 X30-X39 X40-X49 X50-X57 X58-X59 X60-X84 X85-X99 Y00-Y09 Y10-Y34 Y35-Y38 \
         Y40-Y59 Y60-Y69 Y70-Y82 Y83-Y84 Y85-Y89 Y90-Y99",
    ),
    (
        "factors",
        "Z00-Z13 Z14-Z15 Z16-Z16 Z17-Z17 Z18-Z18 Z19-Z19 Z20-Z29 Z30-Z39 Z40-Z54 Z55-Z65 \
         Z66-Z66 Z67-Z67 Z68-Z68 Z69-Z76 Z77-Z99",
    ),
    ("special purposes", "U00-U49 U50-U81 U82-U85 U86-U99"),
];

/// Lines of ICD-9: category, block, chapter, root.
pub(super) fn icd9() -> Vec<[String; 4]> {
    let mut lines = lines(ICD9);
    lines.retain(|line| category9(&line[0]).as_ref() == Some(&line[0]));
    lines
}

/// Lines of ICD-10.
pub(super) fn icd10() -> Vec<[String; 4]> {
    lines(ICD10)
}

fn lines(chapters: &[Chapter]) -> Vec<[String; 4]> {
    let mut lines = Vec::new();
    for (about, blocks) in chapters {
        let blocks: Vec<(&str, &str)> = blocks
            .split_whitespace()
            .filter_map(|block| block.split_once('-'))
            .collect();
        if let (Some((first, _)), Some((_, last))) = (blocks.first(), blocks.last()) {
            extend(&mut lines, (first, last), about, &blocks);
        }
    }
    lines
}

/// Adds the categories of a chapter, from the first to the last there may be.
fn extend(
    lines: &mut Vec<[String; 4]>,
    (first, last): (&str, &str),
    about: &str,
    blocks: &[(&str, &str)],
) {
    let (from, to) = (number(first), number(last));
    let chapter = format!("{first}-{last} {about}");
    for at in from..=to {
        let Some(category) = written(at, first.len()) else { continue };
        let mut within =
            blocks.iter().filter(|(low, high)| number(low) <= at && at <= number(high));
        // Numbers that no block has are in use somewhere.
        let block = match within.next() {
            Some((low, high)) => format!("{low}-{high}"),
            None => format!("{first}-{last} other"),
        };
        lines.push([category, block, chapter.clone(), "*".to_owned()]);
    }
}

/// A category as a number: its letter, then its digits.
fn number(category: &str) -> u32 {
    let letter = category.bytes().next().filter(u8::is_ascii_alphabetic);
    let digits = category.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    u32::from(letter.unwrap_or(0)) * 1000 + digits.parse().unwrap_or(0)
}

/// The category with this number; nothing if that has too many digits for its length.
fn written(number: u32, length: usize) -> Option<String> {
    let letter = u8::try_from(number / 1000).ok().filter(u8::is_ascii_alphabetic);
    let letter = letter.map(|letter| char::from(letter).to_string());
    let letter = letter.unwrap_or_default();
    let width = length - letter.len();
    let digits = format!("{:0width$}", number % 1000);
    (digits.len() == width).then_some(letter + &digits)
}

/// Up to two digits after a point, or nothing.
fn is_detail(rest: &str) -> bool {
    let digits = rest.strip_prefix('.').unwrap_or(rest);
    let any = rest.is_empty() || !digits.is_empty();
    any && digits.len() <= 2 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The category of a code of ICD-9: `250` of `250.83`, `008` of `8`. Codes without their point
/// are not understood, since they may have lost zeros.
pub(super) fn category9(text: &str) -> Option<String> {
    let code = text.trim();
    let (whole, rest) = code.split_at(code.find('.').unwrap_or(code.len()));
    let letter = whole.chars().next()?.to_ascii_uppercase();
    let (letter, digits, width) = match letter {
        'V' => ("V", &whole[1..], 2),
        'E' => ("E", &whole[1..], 3),
        _ => ("", whole, 3),
    };
    let fits = (1..=width).contains(&digits.len())
        && (letter.is_empty() || digits.len() == width)
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && is_detail(rest);
    let number: u32 = digits.parse().ok().filter(|_| fits)?;
    let known = match letter {
        "V" => (1..=91).contains(&number),
        "E" => number <= 30 || number >= 800,
        _ => number >= 1,
    };
    known.then(|| format!("{letter}{number:0width$}"))
}

/// The category of a code of ICD-10: `E11` of `E11.65`, `e1165` and `E11`.
pub(super) fn category10(text: &str) -> Option<String> {
    let code = text.trim().to_ascii_uppercase();
    let bytes = code.as_bytes();
    let &[letter, ten, one, ref rest @ ..] = bytes else { return None };
    let rest = rest.strip_prefix(b".").unwrap_or(rest);
    let fits = letter.is_ascii_uppercase()
        && ten.is_ascii_digit()
        && (one.is_ascii_digit() || matches!(one, b'A' | b'B'))
        && rest.len() <= 4
        && !bytes.ends_with(b".")
        // Daggers, asterisks and dashes mark codes in some countries.
        && rest.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+*!-".contains(byte));
    if !fits {
        return None;
    }
    // Some clinical modifications have letters in third place; they stand with the number
    // before them, as `C4A` after `C43`.
    let category = match (letter, ten, one) {
        (b'C', b'4', b'A') => "C43".to_owned(),
        (b'C', b'7', _) if one > b'9' => "C79".to_owned(),
        (b'D', b'3', b'A') => "D36".to_owned(),
        (b'M', b'1', b'A') => "M10".to_owned(),
        (b'O', b'9', b'A') => "O99".to_owned(),
        (b'Z', b'3', b'A') => "Z39".to_owned(),
        _ if one > b'9' => return None,
        _ => code[..3].to_owned(),
    };
    let known = ICD10.iter().any(|(_, blocks)| {
        let (first, last) = (blocks.split('-').next(), blocks.rsplit('-').next());
        first
            .zip(last)
            .is_some_and(|(first, last)| (first..=last).contains(&&*category))
    });
    known.then_some(category)
}
