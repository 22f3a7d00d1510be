/// Which word was meant.
package enum Nearness {
    /// `, did you mean 'x'?`, or which there are, where none is near.
    package static func hint(_ word: String, _ known: [String]) -> String {
        if let near = nearest(word, known) { return ", did you mean '\(near)'?" }
        return known.isEmpty ? "" : ": there are \(known.joined(separator: ", "))"
    }

    /// `, did you mean 'x'?`, and nothing where none is near.
    package static func question(_ word: String, _ known: [String]) -> String {
        nearest(word, known).map { ", did you mean '\($0)'?" } ?? ""
    }

    /// The word with the fewest changes, where these are two or a third of it at most, and fewer
    /// than what was written.
    package static func nearest(_ word: String, _ known: [String]) -> String? {
        // Longer than any of ours: not worth the comparison.
        guard word.utf8.count <= 64 else { return nil }
        let ranked = known.map { ($0, distance(Array(word.utf8), Array($0.utf8))) }
        guard let best = ranked.min(by: { $0.1 < $1.1 }),
            best.1 <= max(2, best.0.utf8.count / 3), best.1 < word.utf8.count
        else { return nil }
        return best.0
    }

    /// Levenshtein's.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (number, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = number + 1
            for column in right.indices {
                let change = diagonal + (byte == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(change, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
