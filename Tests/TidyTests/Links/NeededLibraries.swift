/// The shared libraries that a program needs directly: its DT_NEEDED entries.
///
/// Libraries that those load in turn don't count; they are the sandbox's responsibility.
enum NeededLibraries {
    /// Parses the output of `readelf --dynamic`.
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
