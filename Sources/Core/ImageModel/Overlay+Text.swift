extension Overlay {
    /// `URL`, `URL,X,Y` or `URL,X,Y,OPACITY` with an http or https URL without user info, and
    /// before it words for how it is laid, each at most once, in any order: a place, a size,
    /// `repeat`, a mode and an opacity. `nil` for anything else, numbers out of range included.
    ///
    /// A URL may have commas. How many parts behind the last ones of it read as numbers decides:
    /// with none the text is the URL, with two they are X and Y, with three or more the last three
    /// are X, Y and OPACITY; with one nobody knows what is meant. So a URL that ends in a comma and
    /// a number is given all three.
    public init?(_ text: String) {
        var parts = text.split(separator: ",", omittingEmptySubsequences: false)[...]
        var words = Words()
        while let part = parts.first, words.take(String(part)) { parts = parts.dropFirst() }
        let count = min(3, parts.dropFirst().reversed().prefix(while: Self.readsAsNumber).count)
        let url = parts.dropLast(count).joined(separator: ",")
        let numbers = parts.suffix(count).map { String($0) }
        guard count != 1, count < 3 || words.opacity == nil,
            let parsed = try? SourceURL(url), ["http", "https"].contains(parsed.scheme),
            parsed.userInfo == nil
        else { return nil }
        guard let x = count > 0 ? Self.place(numbers[0]) : 0,
            let y = count > 0 ? Self.place(numbers[1]) : 0,
            let opacity = count > 2 ? PlainNumber.decimal(numbers[2]) : words.opacity ?? 1,
            (0...1).contains(opacity)
        else { return nil }
        self.init(
            url: url, x: x, y: y, opacity: opacity, gravity: words.gravity, size: words.size,
            repeats: words.repeats, mode: words.mode ?? .normal)
        guard hasPlace, size?.isPermitted ?? true else { return nil }
    }

    /// What is wrong with the words before the URL of a text that is none; `nil` where they are
    /// right.
    static func fault(_ text: String) -> String? {
        var words = Words()
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let word = String(part)
            if words.take(word) { continue }
            if part.contains(":") { return nil }
            var other = Words()
            if other.take(word) { return "'\(word)' says again what a word before it said" }
            return "'\(word)' is no word of an overlay and no URL"
                + Nearness.question(word, known)
        }
        return "there is no URL"
    }

    private static let known =
        Gravity.words.map(\.name) + BlendMode.allCases.map(\.name) + [repeatWord]

    /// What stands before the URL.
    private struct Words {
        var gravity: Gravity?
        var size: RelativeSize?
        var repeats = false
        var mode: BlendMode?
        var opacity: Double?

        /// False for what is no such word, or one that was there before.
        mutating func take(_ word: String) -> Bool {
            if let place = Gravity(word) { return Self.fill(&gravity, place) }
            if let box = RelativeSize(word) { return Self.fill(&size, box) }
            if let named = BlendMode(name: word) { return Self.fill(&mode, named) }
            if let number = PlainNumber.decimal(word) { return Self.fill(&opacity, number) }
            guard word == Overlay.repeatWord, !repeats else { return false }
            repeats = true
            return true
        }

        private static func fill<Value>(_ place: inout Value?, _ value: Value) -> Bool {
            guard place == nil else { return false }
            place = value
            return true
        }
    }

    /// Digits, points, signs and the letter of an exponent, which is not the first of them; whether
    /// it is one is asked later.
    private static func readsAsNumber(_ part: Substring) -> Bool {
        let letters = Set("eE".utf8)
        let others = Set("0123456789.-+".utf8)
        return part.utf8.first.map(others.contains) == true
            && part.utf8.allSatisfy { letters.contains($0) || others.contains($0) }
    }

    private static func place(_ text: String) -> Int? {
        PlainNumber.integer(text).flatMap {
            (-RequestLimits.sideMax...RequestLimits.sideMax).contains($0) ? $0 : nil
        }
    }
}
