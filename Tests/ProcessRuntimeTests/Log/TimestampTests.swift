import Testing

@testable import ProcessRuntime

@Suite struct TimestampTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_399_999_999_999, "2000-02-28T23:59:59.999Z"),
        (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
        (1_709_251_199_000_000_000, "2024-02-29T23:59:59.000Z"),
        (1_709_251_200_000_000_000, "2024-03-01T00:00:00.000Z"),
        (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000Z"),
        (1_767_225_599_123_456_789, "2025-12-31T23:59:59.123Z"),
    ])
    func aMomentIsItsDateInUTC(nanoseconds: Int64, text: String) {
        var line: [UInt8] = []
        Timestamp(nanoseconds: nanoseconds).append(to: &line)
        #expect(String(decoding: line, as: UTF8.self) == text)
    }
}
