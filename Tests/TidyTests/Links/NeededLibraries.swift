/// The shared libraries that a program asks for by itself: its DT_NEEDED entries.
///
/// What those libraries bring along does not count; the sandbox, not the link list, answers for it.
enum NeededLibraries {
    /// Reads what `readelf --dynamic` prints.
    static func names(inReadelf text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            guard line.contains("(NEEDED)"), let open = line.firstIndex(of: "["),
                let close = line[open...].firstIndex(of: "]")
            else { return nil }
            return String(line[line.index(after: open)..<close])
        }
    }

    /// `libcurl.so.4` → `curl`; nil for a name of another form.
    static func stem(of library: String) -> String? {
        guard library.hasPrefix("lib"), let end = library.ranges(of: ".so").first else {
            return nil
        }
        return String(library[..<end.lowerBound].dropFirst(3))
    }
}
