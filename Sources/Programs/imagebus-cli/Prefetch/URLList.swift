import ImageModel
import StackAccess

/// The list of `prefetch -f`.
struct URLList {
    /// A URL and where it stands.
    struct Line: Hashable {
        let number: Int
        let url: String
    }

    /// The file, as it was named.
    let file: String
    let lines: [Line]

    /// Reads it to the end, or until Ctrl-C: one URL a line.
    init(_ file: String, _ interruption: Interruption) throws(ImageError) {
        let bytes =
            file == "-"
            ? try StandardInput.read(interruption)
            : try InputFile.read(file, bytesMax: StandardInput.bytesMax)
        self.init(file: file, bytes)
    }

    init(file: String, _ bytes: [UInt8]) {
        self.file = file == "-" ? "standard input" : file
        lines = Self.lines(bytes)
    }

    /// Where a URL stands first, such as `urls.txt:3`; nil where it is of the command line.
    func place(of url: String) -> String? {
        lines.first { $0.url == url }.map(place)
    }

    /// The lines that are no URL, and why.
    var faults: [PrefetchFault] {
        lines.compactMap { line in
            do throws(ImageError) {
                _ = try SourceURL(line.url)
                return nil
            } catch {
                return PrefetchFault(place: place(of: line), url: line.url, error: error)
            }
        }
    }

    private func place(of line: Line) -> String { "\(file):\(line.number)" }

    /// Without empty lines and comments.
    private static func lines(_ bytes: [UInt8]) -> [Line] {
        let rows = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        return zip(1..., rows).flatMap { number, row in
            row.split(separator: 0x0D).compactMap { text in
                url(in: text).map { Line(number: number, url: $0) }
            }
        }
    }

    private static func url(in line: ArraySlice<UInt8>) -> String? {
        let text = line.drop { isSpace($0) }
        guard let first = text.first, first != UInt8(ascii: "#"),
            let last = text.lastIndex(where: { !isSpace($0) })
        else { return nil }
        return String(decoding: text[...last], as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
