import Testing

@testable import Supervision

/// Which output of native libraries is logged, with a simulated clock.
@Suite struct NativeLinesTests {
    private static let line = Array("text\n".utf8)

    @Test func linesAreWholeHoweverTheyCome() {
        var lines = NativeLines()
        #expect(lines.append(Array("one\ntw".utf8), at: 0) == ["one"])
        #expect(lines.append(Array("o\n\nthree".utf8), at: 0) == ["two"])
        #expect(lines.end(at: 0) == ["three"])
        #expect(lines.end(at: 0).isEmpty)
    }

    @Test func aLineWithoutAnEndTakesNoMemory() {
        var lines = NativeLines()
        let part = [UInt8](repeating: 0x78, count: 999)
        for _ in 0..<1_000 { #expect(lines.append(part, at: 0).isEmpty) }
        #expect(lines.end(at: 0).map(\.utf8.count) == [NativeLines.lineBytesMax])
    }

    @Test func linesBeyondTheBudgetAreCounted() {
        var lines = NativeLines()
        let flood = (0..<1_000).flatMap { _ in Self.line }
        #expect(lines.append(flood, at: 0).count == Int(NativeLines.burst))
        #expect(lines.append(Self.line, at: NativeLines.nanosecondsPerLine - 1).isEmpty)
        let later = lines.append(Self.line, at: NativeLines.nanosecondsPerLine)
        #expect(later == ["(\(1_001 - NativeLines.burst) lines dropped)", "text"])
    }

    @Test func anHourOfTextHasSoManyLines() {
        var lines = NativeLines()
        var count = 0
        for second in 0..<3_600 as Range<UInt64> {
            for _ in 0..<50 {
                count += lines.append(Self.line, at: second * NativeLines.nanosecondsPerLine)
                    .count { $0 == "text" }
            }
        }
        #expect(count <= Int(NativeLines.burst) + 3_600)
    }
}
