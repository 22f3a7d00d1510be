import SQLite
import Testing

@Suite struct ResultCodeTests {
    @Test func anExtendedCodeMatchesItsPrimaryOne() {
        let writeError = ResultCode(rawValue: 778)  // SQLITE_IOERR_WRITE
        #expect(.ioError ~= writeError)
        #expect(writeError.primary == .ioError)
        #expect(writeError != .ioError)
    }

    @Test func aPrimaryCodeDoesNotMatchAnExtendedPattern() {
        let writeError = ResultCode(rawValue: 778)
        #expect(!(writeError ~= .ioError))
        #expect(!(.full ~= writeError))
    }
}
