//! Text that is compressed, or not in UTF-8.

use std::io::{self, BufReader, Read, Write};

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8};
use flate2::read::MultiGzDecoder;

use crate::error::{Error, ErrorKind, Result};
use crate::table::csv::{LONGEST, Text};
use crate::table::options::ReadOptions;
use crate::table::packed::{Cursor, Origin, Stamp, Told, changed};
use crate::table::store::TableBytes;
use crate::watch::{Unwatched, Watch};

/// How much text is looked at for the header, at first.
const HEAD_BYTES: usize = 1 << 20;

/// How a text file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::table) enum Compression {
    /// As `gzip` does.
    Gzip,
    /// As `zstd` does.
    Zstd,
}

impl Compression {
    /// Found in the first bytes of a file.
    pub(in crate::table) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    fn reader<'r>(self, bytes: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(bytes)),
            Self::Zstd => Box::new(zstd::stream::read::Decoder::new(bytes)?),
        })
    }
}

/// The encoding that the first bytes of a text name, if they name one.
pub(in crate::table) fn marked(head: &[u8]) -> Option<&'static Encoding> {
    Encoding::for_bom(head).map(|(encoding, _)| encoding)
}

/// An encoding by its name.
pub(in crate::table) fn named(name: &str) -> Result<&'static Encoding> {
    Encoding::for_label(name.as_bytes()).ok_or_else(|| {
        Error::recipe(format!("no encoding is called `{name}`")).with_hint(
            "common ones are \"utf-8\", \"windows-1252\" (Western Europe), \"iso-8859-2\", \
             \"utf-16le\", \"shift_jis\"; the names are those of the web",
        )
    })
}

/// That there is an encoding of this name.
pub fn check_encoding(name: &str) -> Result<()> {
    named(name).map(|_| ())
}

/// Text that must be unpacked or decoded before it can be read.
pub(in crate::table) struct Stream {
    store: TableBytes,
    stamp: Stamp,
    compression: Option<Compression>,
    /// UTF-8 if there is none.
    encoding: Option<&'static Encoding>,
    delimiter: Option<u8>,
    header: Vec<String>,
}

impl Stream {
    pub(in crate::table) fn open(
        store: TableBytes,
        compression: Option<Compression>,
        delimiter: Option<u8>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let stamp = Stamp::of(&store);
        let encoding = options.encoding.as_deref().map(named).transpose()?;
        let (encoding, header) = (encoding.filter(|said| *said != UTF_8), Vec::new());
        let mut stream =
            Self { store, stamp, compression, encoding, delimiter, header };
        let first = stream.head(stream.unpacked(&Unwatched)?, 4)?;
        stream.mark(&first)?;
        let mut most = HEAD_BYTES;
        loop {
            let head = stream.head(stream.text(&Unwatched)?, most)?;
            let is_cut = head.len() == most;
            let store = TableBytes::Memory(head);
            match Text::open(store, delimiter, &ReadOptions::default()) {
                // A header that ends where the look at it ended may go on.
                Ok((text, header)) if !is_cut || text.has_rows() => {
                    stream.header = header;
                    return Ok(stream);
                }
                Err(error) if !is_cut || most > LONGEST => return Err(error),
                _ => most *= 2,
            }
        }
    }

    /// The first bytes of a reader.
    fn head(&self, reader: impl Read, most: usize) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        reader.take(most as u64).read_to_end(&mut head).map_err(own)?;
        Ok(head)
    }

    /// Holds a byte order mark against what was said.
    fn mark(&mut self, head: &[u8]) -> Result<()> {
        if Compression::of(head).is_some() && self.compression.is_some() {
            return Err(Error::input("the table is compressed twice"));
        }
        if head == b"PAR1" {
            return Err(Error::input("this is a compressed Parquet file")
                .with_hint("unpack it first; Parquet compresses by itself"));
        }
        let Some(found) = marked(head) else { return Ok(()) };
        match self.encoding {
            Some(said) if said != found => Err(Error::input(format!(
                "the first bytes say that the text is in {}, not in {}",
                found.name(),
                said.name()
            ))
            .with_hint("leave `encoding` out")),
            _ => {
                self.encoding = Some(found).filter(|found| *found != UTF_8);
                Ok(())
            }
        }
    }

    /// The bytes without their compression.
    fn unpacked<'r>(&'r self, watch: &'r dyn Watch) -> Result<Box<dyn Read + 'r>> {
        let told = Told { reader: Cursor::new(&self.store), watch };
        let bytes = BufReader::with_capacity(1 << 16, told);
        match self.compression {
            None => Ok(Box::new(bytes)),
            Some(compression) => {
                let reader = compression.reader(bytes).map_err(own)?;
                Ok(Box::new(Unpacked { reader, compression }))
            }
        }
    }

    /// The text in UTF-8.
    fn text<'r>(&'r self, watch: &'r dyn Watch) -> Result<Box<dyn Read + 'r>> {
        let bytes = self.unpacked(watch)?;
        Ok(match self.encoding {
            None => bytes,
            Some(encoding) => Box::new(Decoded::new(bytes, encoding)),
        })
    }
}

impl Origin for Stream {
    fn bytes(&self) -> u64 {
        self.store.len().unwrap_or(0)
    }

    fn delimiter(&self) -> Option<u8> {
        self.delimiter
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn pour(&self, out: &mut dyn Write, watch: &dyn Watch) -> Result<()> {
        let poured = self.text(watch).and_then(|mut text| poured(&mut text, out));
        watch.check()?;
        match Stamp::of(&self.store) == self.stamp {
            true => poured,
            false => Err(changed()),
        }
    }
}

/// Copies all of a text.
fn poured(text: &mut dyn Read, out: &mut dyn Write) -> Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match text.read(&mut buffer).map_err(own)? {
            0 => return Ok(()),
            read => out.write_all(&buffer[..read]).map_err(|source| {
                Error::new(ErrorKind::Io { action: "write a temporary file", source })
            })?,
        }
    }
}

/// An error that came through a reader: one of ours, or one of the system.
fn own(error: io::Error) -> Error {
    if error.get_ref().is_some_and(|inner| inner.is::<Error>())
        && let Some(Ok(own)) = error.into_inner().map(|inner| inner.downcast::<Error>())
    {
        return *own;
    }
    Error::input("the file cannot be read")
}

/// Says what is wrong with compressed data.
struct Unpacked<R> {
    reader: R,
    compression: Compression,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer).map_err(|error| {
            if error.raw_os_error().is_some() {
                return error;
            }
            let name = self.compression.name();
            io::Error::other(match error.kind() {
                io::ErrorKind::UnexpectedEof => Error::input(format!(
                    "the {name} data ends too early: the file is not whole"
                )),
                _ => Error::input(format!(
                    "the {name} data cannot be unpacked: the file is damaged"
                )),
            })
        })
    }
}

/// Text in UTF-8, from bytes in another encoding.
struct Decoded<R> {
    bytes: R,
    encoding: &'static Encoding,
    decoder: Decoder,
    /// Bytes that are not decoded yet.
    raw: Vec<u8>,
    /// Text that was not taken yet, and how much of it was.
    text: Vec<u8>,
    taken: usize,
    is_last: bool,
    /// The line that the text has come to, from 1.
    line: usize,
}

impl<R: Read> Decoded<R> {
    fn new(bytes: R, encoding: &'static Encoding) -> Self {
        Self {
            bytes,
            encoding,
            decoder: encoding.new_decoder_with_bom_removal(),
            raw: Vec::new(),
            text: Vec::new(),
            taken: 0,
            is_last: false,
            line: 1,
        }
    }

    /// Decodes more bytes.
    fn decode(&mut self) -> io::Result<()> {
        let mut buffer = [0; 1 << 13];
        let read = self.bytes.read(&mut buffer)?;
        self.is_last = read == 0;
        self.raw.extend_from_slice(&buffer[..read]);
        let room =
            self.decoder.max_utf8_buffer_length_without_replacement(self.raw.len());
        self.text.resize(room.unwrap_or(4 * self.raw.len() + 16), 0);
        let (raw, text) = (&self.raw, &mut self.text);
        let (result, used, written) =
            self.decoder.decode_to_utf8_without_replacement(raw, text, self.is_last);
        self.raw.drain(..used);
        self.text.truncate(written);
        self.taken = 0;
        let is_wrong = matches!(result, DecoderResult::Malformed(..))
            || self.encoding.is_single_byte() && has_control(&self.text);
        if is_wrong {
            let bad = self.text.windows(2).position(has_control);
            let before = &self.text[..bad.unwrap_or(self.text.len())];
            let line = self.line + memchr::memchr_iter(b'\n', before).count();
            let name = self.encoding.name();
            let error = Error::input(format!("line {line} is not valid in {name}"))
                .with_hint("say another `encoding`, or save the file as UTF-8");
            return Err(io::Error::other(error));
        }
        self.line += memchr::memchr_iter(b'\n', &self.text).count();
        Ok(())
    }
}

/// Whether a text has control characters that nobody types: single bytes without a meaning
/// are decoded as these.
fn has_control(text: &[u8]) -> bool {
    text.windows(2).any(|pair| pair[0] == 0xc2 && (0x80..0xa0).contains(&pair[1]))
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.text.len() && !self.is_last {
            self.decode()?;
        }
        let rest = &self.text[self.taken..];
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        self.taken += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], encoding: &str) -> Result<String> {
        let mut text = Vec::new();
        let mut reader = Decoded::new(bytes, named(encoding)?);
        poured(&mut reader, &mut text)?;
        Ok(String::from_utf8(text).unwrap())
    }

    #[test]
    fn every_byte_is_decoded_or_its_line_named() {
        assert_eq!(decoded(b"M\xfcller;\x80\n", "windows-1252").unwrap(), "Müller;€\n");
        let long: Vec<u8> = [b'a', 0xe9].repeat(20_000);
        assert_eq!(decoded(&long, "latin1").unwrap(), "aé".repeat(20_000));
        let wide: Vec<u8> =
            "x\ny é".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decoded(&wide, "utf-16le").unwrap(), "x\ny é");
        for (bytes, encoding, expected) in [
            (&b"a\nb\x81\n"[..], "windows-1252", "line 2 is not valid in windows-1252"),
            (b"a\n\n\x82", "shift_jis", "line 3 is not valid in Shift_JIS"),
            (b"a\0b", "utf-16le", "line 1 is not valid in UTF-16LE"),
        ] {
            assert_eq!(decoded(bytes, encoding).unwrap_err().to_string(), expected);
        }
        let error = named("latin-99").unwrap_err();
        assert_eq!(error.to_string(), "no encoding is called `latin-99`");
    }
}
