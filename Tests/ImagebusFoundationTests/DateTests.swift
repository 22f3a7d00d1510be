import FoundationEssentials
import ImagebusFoundation
import Model
import Testing

@Suite struct DateTests {
    /// The example date of RFC 9110 §5.6.7, in seconds according to GNU date.
    private static let moment = 784_111_777.0

    @Test func expiryIsInDates() {
        let expiry = HTTPExpiry(
            born: 784_111_777_500, freshFor: 60_000, staleFor: 1_000, errorFor: 7_200_000)
        #expect(expiry.bornDate == Date(timeIntervalSince1970: Self.moment + 0.5))
        #expect(expiry.freshUntilDate == Date(timeIntervalSince1970: Self.moment + 60.5))
        #expect(expiry.staleUntilDate == Date(timeIntervalSince1970: Self.moment + 61.5))
        #expect(expiry.errorUntilDate == Date(timeIntervalSince1970: Self.moment + 7_260.5))
    }

    @Test func lastModifiedIsReadAsHTTPWritesIt() {
        let date = Validity(lastModified: "Sun, 06 Nov 1994 08:49:37 GMT").lastModifiedDate
        #expect(date == Date(timeIntervalSince1970: Self.moment))
    }

    @Test(arguments: [nil, "", "yesterday", "Sun, 06 Nov 1994", "1994-11-06T08:49:37Z"])
    func whatIsNoDateOfHTTPIsNone(text: String?) {
        #expect(Validity(lastModified: text).lastModifiedDate == nil)
    }

    @Test func anEntryHasDatesWhereItsTierSaysThem() {
        var entry = EntryDescription(
            key: "a", tier: .disk, bytes: 1, format: .png, size: PixelSize(width: 1, height: 1))
        #expect(entry.storedDate == nil)
        #expect(entry.accessedDate == nil)
        (entry.storedMilliseconds, entry.accessedMilliseconds) = (784_111_777_000, 1_500)
        #expect(entry.storedDate == Date(timeIntervalSince1970: Self.moment))
        #expect(entry.accessedDate == Date(timeIntervalSince1970: 1.5))
    }
}
