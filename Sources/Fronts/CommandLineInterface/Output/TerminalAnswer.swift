import Glibc
package import ImageModel
import Linux

/// What a terminal answers when it is asked what it can do.
package struct TerminalAnswer: Hashable {
    /// Whether it draws sixels: the 4 among its primary device attributes.
    package let hasSixels: Bool
    /// Pixels of a cell, where it says them.
    package let cell: PixelSize?

    /// A cell (XTWINOPS 16), and then the attributes (DA1), which every terminal answers.
    private static let question = "\u{1B}[16t\u{1B}[c"
    /// Bytes of an answer at most.
    private static let bytesMax = 1_024
    private static let cellSides = 1...1_024

    /// Reads an answer; `nil` where the attributes have not come.
    package init?(_ text: [UInt8]) {
        let sequences = text.split(separator: 0x1B).compactMap(Self.sequence)
        guard let attributes = sequences.first(where: { $0.end == UInt8(ascii: "c") }) else {
            return nil
        }
        hasSixels = attributes.numbers.dropFirst().contains(4)
        let size = sequences.first { $0.end == UInt8(ascii: "t") && $0.numbers.first == 6 }
        let sides = size.map { Array($0.numbers.dropFirst()) } ?? []
        cell =
            sides.count == 2 && sides.allSatisfy(Self.cellSides.contains)
            ? PixelSize(width: sides[1], height: sides[0]) : nil
    }

    /// Asks the terminal that standard input and output are, and waits a second at most; `nil`
    /// where there is none, and where it does not answer.
    package static func ask() -> TerminalAnswer? {
        guard isatty(1) == 1, let keys = TerminalKeys() else { return nil }
        defer { withExtendedLifetime(keys) {} }
        guard Terminal.control(1, question) else { return nil }
        let deadline = MonotonicClock.now() + 1_000_000_000
        var text: [UInt8] = []
        while text.count < bytesMax {
            let now = MonotonicClock.now()
            guard now < deadline else { return nil }
            var ready = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, Int32((deadline - now) / 1_000_000) + 1) == 1 else { continue }
            var chunk = [UInt8](repeating: 0, count: 64)
            let count = read(0, &chunk, chunk.count)
            guard count > 0 else { return nil }
            text += chunk[..<count]
            if let answer = TerminalAnswer(text) { return answer }
        }
        return nil
    }

    /// `[?62;4c`, without what may stand behind it.
    private static func sequence(_ text: ArraySlice<UInt8>) -> (numbers: [Int], end: UInt8)? {
        guard text.first == UInt8(ascii: "["),
            let end = text.dropFirst().firstIndex(where: { (0x40...0x7E).contains($0) })
        else { return nil }
        let parts = text[(text.startIndex + 1)..<end].split(separator: UInt8(ascii: ";"))
        let numbers = parts.map { part in
            let digits = part.drop { $0 == UInt8(ascii: "?") }
            return PlainNumber.integer(String(decoding: digits, as: UTF8.self)) ?? -1
        }
        return (numbers, text[end])
    }
}
