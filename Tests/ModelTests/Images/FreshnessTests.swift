import Model
import Testing

/// Cache-Control, Expires, Date and Age against the clock, according to RFC 9111 and RFC 5861.
///
/// These groups of the public suite http-tests/cache-tests apply, and their cases are among the
/// rows (its names in brackets): `cc-freshness` (freshness-none, freshness-max-age, -max-age-0,
/// -max-age-max, -max-age-max-plus, -max-age-max-plus1, -max-age-stale, -max-age-age,
/// -max-age-date, -max-age-expires, -max-age-two-fresh-stale-sameline,
/// -max-age-two-stale-fresh-sameline, -max-age-quoted, -max-age-single-quoted,
/// -max-age-leading-zero, -max-age-decimal-zero, -max-age-space-before-equals,
/// -max-age-space-after-equals, -max-age-negative, -max-age-ignore-quoted,
/// -max-age-ignore-quoted-rev, -max-age-s-maxage-private, -max-age-s-maxage-private-multiple,
/// -max-age-s-maxage-shared-longer, -shorter, -shorter-reversed, -longer-reversed,
/// -max-age-extension, -max-age-case-insenstive, -max-age-0-expires), `expires-freshness`
/// (freshness-expires-past, -future, -present, -invalid, -age-slow-date, -age-fast-date, -rfc850,
/// -ansi-c, -wrong-case-month, -wrong-case-weekday, -wrong-case-tz, -invalid-utc, -invalid-aest,
/// -invalid-1-digit-hour, -invalid-2-digit-year, -invalid-no-comma), `age-parse`
/// (age-parse-numeric, -parameter, -nonnumeric, -negative, -float, -large, -dup-0, -dup-old),
/// `cc-response` (cc-resp-no-store, -no-cache, -private-shared, -private-private,
/// -must-revalidate-fresh, -stale), and `stale` (stale-503, stale-close, -must-revalidate,
/// -proxy-revalidate, -s-maxage, -while-revalidate, -while-revalidate-window).
struct FreshnessTests {
    /// Tue, 14 Nov 2023 22:13:20 GMT: the time of the response, which arrived without delay.
    static let answered: Int64 = 1_700_000_000

    /// The date so many seconds later.
    private static func after(_ seconds: Int64) -> String {
        HTTPDate.text(of: answered + seconds)
    }

    /// The age of a response that arrived without delay.
    private static func age(
        date: String? = after(0), age: String? = nil, expires: String? = nil
    ) -> ResponseAge {
        ResponseAge(
            date: date, age: age, expires: expires, asked: answered * 1_000,
            answered: answered * 1_000)
    }

    /// The ends of the three periods, in seconds after the response.
    private func expect(_ expiry: HTTPExpiry, fresh: Int64, stale: Int64, error: Int64) {
        #expect(expiry.freshUntil == (Self.answered + fresh) * 1_000)
        #expect(expiry.staleUntil == (Self.answered + stale) * 1_000)
        #expect(expiry.errorUntil == (Self.answered + error) * 1_000)
    }

    enum Answer {
        case fresh, background, first
        /// As `first`, and stale responses are served if the origin fails.
        case firstOrError
        /// As `background`, and stale responses are served if the origin fails.
        case backgroundOrError
    }

    struct Row: CustomTestStringConvertible {
        let control: String?
        /// Seconds after the response.
        let at: Int64
        let answer: Answer
        let section: String
        let role: CacheRole
        let date: String?
        let age: String?
        let expires: String?
        var testDescription: String { "\(control ?? "-") at \(at), \(section)" }

        init(
            _ control: String?, at: Int64, _ answer: Answer, _ section: String,
            role: CacheRole = .shared, date: String? = FreshnessTests.after(0), age: String? = nil,
            expires: String? = nil
        ) {
            (self.control, self.at, self.answer, self.section) = (control, at, answer, section)
            (self.role, self.date, self.age, self.expires) = (role, date, age, expires)
        }
    }

    static let ages: [Row] = [
        // Without an explicit lifetime none is guessed.
        Row(nil, at: 0, .first, "9111 4.2.2"),
        Row("", at: 0, .first, "9111 4.2.2"),
        Row("public", at: 0, .first, "9111 4.2.2"),
        Row("immutable", at: 0, .first, "8246 2"),
        // max-age.
        Row("max-age=60", at: 0, .fresh, "9111 5.2.2.1"),
        Row("max-age=60", at: 59, .fresh, "9111 5.2.2.1"),
        Row("max-age=60", at: 60, .first, "9111 4.2: the lifetime exceeds the age"),
        Row("max-age=60", at: 3_600, .first, "9111 5.2.2.1"),
        Row("max-age=0", at: 0, .first, "9111 5.2.2.1"),
        Row("MaX-aGe=60", at: 30, .fresh, "9111 5.2: names in any case"),
        Row("public, max-age=60", at: 30, .fresh, "9111 5.2.2.9"),
        Row("max-age=60, immutable", at: 30, .fresh, "8246 2"),
        Row("max-age=60, immutable", at: 60, .first, "8246 2: only while it is fresh"),
        Row("max-age=060", at: 59, .fresh, "9111 1.2.2"),
        Row("max-age=\"60\"", at: 59, .fresh, "9111 5.2: quoted as well"),
        Row("max-age='60'", at: 0, .first, "9111 4.2.1: invalid is stale"),
        Row("max-age=-60", at: 0, .first, "9111 4.2.1"),
        Row("max-age=60.0", at: 0, .first, "9111 4.2.1"),
        Row("max-age=60s", at: 0, .first, "9111 4.2.1"),
        Row("max-age=", at: 0, .first, "9111 4.2.1"),
        Row("max-age", at: 0, .first, "9111 4.2.1"),
        Row("max-age =60", at: 0, .first, "9110 5.6.6: no space there"),
        Row("max-age= 60", at: 0, .first, "9110 5.6.6"),
        Row("max-age=2147483647", at: 2_147_483_646, .fresh, "9111 1.2.2"),
        Row("max-age=2147483648", at: 2_147_483_647, .fresh, "9111 1.2.2"),
        Row("max-age=99999999999999999999999", at: 2_147_483_647, .fresh, "9111 1.2.2: 2^31"),
        Row("max-age=99999999999999999999999", at: 2_147_483_648, .first, "9111 1.2.2: 2^31"),
        Row("max-age=60, max-age=60", at: 30, .fresh, "9111 4.2.1"),
        Row("max-age=60, max-age=0", at: 0, .first, "9111 4.2.1: two that differ are stale"),
        Row("max-age=0, max-age=60", at: 0, .first, "9111 4.2.1"),
        Row("extension=\"max-age=60\"", at: 0, .first, "9110 5.6.4: a text in quotes"),
        Row("extension=\"a, max-age=0\", max-age=60", at: 30, .fresh, "9110 5.6.4"),
        Row("a=\"\\\", max-age=9, \", max-age=60", at: 30, .fresh, "9110 5.6.4: an escaped quote"),
        Row("max-age=60, a=\"b", at: 0, .first, "9111 4.2.1: quotes that do not end"),
        Row("x-max-age=60", at: 0, .first, "9111 5.2.3: unknown is ignored"),
        Row("foo, max-age=60, bar=1", at: 30, .fresh, "9111 5.2.3"),
        Row(",, max-age=60 ,", at: 30, .fresh, "9110 5.6.1.2: empty elements"),
        // s-maxage.
        Row("s-maxage=60, max-age=1", at: 30, .fresh, "9111 5.2.2.10"),
        Row("max-age=60, s-maxage=1", at: 30, .first, "9111 5.2.2.10"),
        Row(
            "s-maxage=60, max-age=1", at: 30, .first, "9111 5.2.2.10: of shared caches only",
            role: .personal),
        Row("s-maxage=1, max-age=60", at: 30, .fresh, "9111 5.2.2.10", role: .personal),
        Row("s-maxage=60", at: 0, .first, "9111 5.2.2.10", role: .personal),
        Row("s-maxage=x, max-age=60", at: 0, .first, "9111 4.2.1"),
        Row("private, max-age=60", at: 30, .fresh, "9111 5.2.2.7", role: .personal),
        // no-cache, also in conflict with a lifetime.
        Row("no-cache", at: 0, .first, "9111 5.2.2.4"),
        Row("no-cache, max-age=60", at: 0, .first, "9111 5.2.2.4"),
        Row("max-age=60, no-cache=\"set-cookie\"", at: 0, .first, "9111 5.2.2.4: as without list"),
        Row("no-cache, stale-if-error=60", at: 0, .first, "9111 4.2.4"),
        Row("no-cache, stale-while-revalidate=60", at: 0, .first, "9111 4.2.4"),
        // no-store: a response that may not be stored isn't fresh either.
        Row("no-store, max-age=60", at: 0, .first, "9111 5.2.2.5"),
        Row("max-age=0, no-store, stale-while-revalidate=60", at: 0, .first, "9111 5.2.2.5"),
        Row("no-store", at: 0, .first, "9111 5.2.2.5", expires: after(60)),
        // Expires.
        Row(nil, at: 59, .fresh, "9111 5.3", expires: after(60)),
        Row(nil, at: 60, .first, "9111 5.3", expires: after(60)),
        Row(nil, at: 0, .first, "9111 5.3", expires: after(0)),
        Row(nil, at: 0, .first, "9111 5.3: the past", expires: after(-60)),
        Row(nil, at: 0, .first, "9111 5.3: 0 is not a date", expires: "0"),
        Row(nil, at: 0, .first, "9111 5.3", expires: "tomorrow"),
        Row(nil, at: 0, .first, "9111 4.2: another zone", expires: "Tue, 14 Nov 2023 23:13:20 UTC"),
        Row(
            nil, at: 0, .first, "9110 5.6.7: one digit of an hour",
            expires: "Wed, 15 Nov 2023 2:13:20 GMT"),
        Row(
            nil, at: 0, .first, "9111 4.2.1: two of them",
            expires: "Tue, 14 Nov 2023 22:14:20 GMT, Tue, 14 Nov 2023 22:15:20 GMT"),
        Row(nil, at: 30, .fresh, "9110 5.6.7: RFC 850", expires: "Tuesday, 14-Nov-23 22:14:20 GMT"),
        Row(nil, at: 30, .fresh, "9110 5.6.7: asctime", expires: "Tue Nov 14 22:14:20 2023"),
        Row(nil, at: 30, .fresh, "9111 4.2: any case", expires: "tue, 14 nov 2023 22:14:20 gmt"),
        Row("max-age=60", at: 30, .fresh, "9111 5.3: max-age counts", expires: "0"),
        Row("max-age=0", at: 0, .first, "9111 5.3", expires: after(3_600)),
        Row("s-maxage=60", at: 30, .fresh, "9111 5.3: s-maxage counts", expires: "0"),
        Row("must-revalidate", at: 30, .fresh, "9111 5.3", expires: after(60)),
        Row(nil, at: 30, .fresh, "9111 4.2.1: from Date, here none", date: nil, expires: after(60)),
        Row(
            nil, at: 0, .first, "9111 4.2.1: 60 s from Date, which is 100 s ago", date: after(-100),
            expires: after(-40)),
        Row(
            nil, at: 59, .fresh, "9111 4.2.1: 60 s from Date, which is an hour ahead",
            date: after(3_600), expires: after(3_660)),
        // Age and Date.
        Row("max-age=60", at: 29, .fresh, "9111 4.2.3", age: "30"),
        Row("max-age=60", at: 30, .first, "9111 4.2.3", age: "30"),
        Row("max-age=60", at: 0, .first, "9111 4.2.3", age: "100"),
        Row("max-age=60", at: 0, .first, "9111 5.1: the first counts", age: "100, 0"),
        Row("max-age=60", at: 59, .fresh, "9111 5.1: the first counts", age: "0, 100"),
        Row("max-age=60", at: 59, .fresh, "9111 5.1: invalid is ignored", age: "abc"),
        Row("max-age=60", at: 59, .fresh, "9111 5.1", age: "-100"),
        Row("max-age=60", at: 59, .fresh, "9111 5.1", age: "100.5"),
        Row("max-age=60", at: 59, .fresh, "9111 5.1", age: "100;a=1"),
        Row("max-age=60", at: 0, .first, "9111 1.2.2", age: "99999999999999999999"),
        Row("max-age=60", at: 0, .first, "9111 4.2.3: apparent age 100", date: after(-100)),
        Row(
            "max-age=120", at: 19, .fresh, "9111 4.2.3: the larger of 100 and 40",
            date: after(-100), age: "40"),
        Row(
            "max-age=120", at: 20, .first, "9111 4.2.3: the larger of 100 and 40",
            date: after(-100), age: "40"),
        Row("max-age=60", at: 59, .fresh, "9111 4.2.3: a clock that is ahead", date: after(3_600)),
        Row("max-age=60", at: 59, .fresh, "9111 4.2.3: no date", date: "yesterday"),
        // Stale while revalidating.
        Row("max-age=60, stale-while-revalidate=30", at: 59, .fresh, "5861 3"),
        Row("max-age=60, stale-while-revalidate=30", at: 60, .background, "5861 3"),
        Row("max-age=60, stale-while-revalidate=30", at: 89, .background, "5861 3"),
        Row("max-age=60, stale-while-revalidate=30", at: 90, .first, "5861 3"),
        Row("stale-while-revalidate=30", at: 0, .background, "5861 3: from the end of freshness"),
        Row("max-age=0, stale-while-revalidate=x", at: 0, .first, "9111 4.2.1"),
        Row("max-age=0, stale-while-revalidate=172800", at: 86_399, .background, "the limit"),
        Row("max-age=0, stale-while-revalidate=172800", at: 86_400, .first, "the limit"),
        Row("max-age=0, must-revalidate, stale-while-revalidate=30", at: 0, .first, "9111 4.2.4"),
        Row("max-age=0, proxy-revalidate, stale-while-revalidate=30", at: 0, .first, "9111 4.2.4"),
        Row(
            "max-age=0, proxy-revalidate, stale-while-revalidate=30", at: 0, .background,
            "9111 5.2.2.8: of shared caches only", role: .personal),
        Row("s-maxage=0, stale-while-revalidate=30", at: 0, .first, "9111 5.2.2.10"),
        Row(
            "s-maxage=9, max-age=0, stale-while-revalidate=30", at: 0, .background,
            "9111 5.2.2.10: of shared caches only", role: .personal),
        // Stale if the origin fails.
        Row("max-age=60, stale-if-error=30", at: 60, .firstOrError, "5861 4"),
        Row("max-age=60, stale-if-error=30", at: 89, .firstOrError, "5861 4"),
        Row("max-age=60, stale-if-error=30", at: 90, .first, "5861 4"),
        Row(
            "max-age=0, stale-if-error=30, stale-while-revalidate=10", at: 5, .backgroundOrError,
            "5861 3, 4"),
        Row(
            "max-age=0, stale-if-error=30, stale-while-revalidate=10", at: 15, .firstOrError,
            "5861 3, 4"),
        Row("max-age=0, must-revalidate, stale-if-error=30", at: 0, .first, "5861 4"),
        Row("max-age=0, proxy-revalidate, stale-if-error=30", at: 0, .first, "9111 5.2.2.8"),
        Row("s-maxage=0, stale-if-error=30", at: 0, .first, "9111 5.2.2.10"),
        Row("max-age=0, stale-if-error=9999999", at: 604_799, .firstOrError, "the limit"),
        Row("max-age=0, stale-if-error=9999999", at: 604_800, .first, "the limit"),
        Row("max-age=60, must-revalidate", at: 59, .fresh, "9111 5.2.2.2: while it is fresh"),
        Row("max-age=60, must-revalidate", at: 60, .first, "9111 5.2.2.2"),
    ]

    @Test(arguments: ages)
    func anAgeHasItsAnswer(row: Row) {
        let age = Self.age(date: row.date, age: row.age, expires: row.expires)
        let expiry = HTTPExpiry(CacheControl(row.control), age, row.role)
        let now = (Self.answered + row.at) * 1_000
        let decision: FreshnessDecision =
            switch row.answer {
            case .fresh: .fresh
            case .background, .backgroundOrError: .staleWhileRevalidate
            case .first, .firstOrError: .revalidate
            }
        #expect(FreshnessDecision(expiry, at: now) == decision)
        // A cache that ignores storage rules computes the same freshness as a shared one.
        if row.role == .shared {
            let heedless = HTTPExpiry(CacheControl(row.control), age, .heedless)
            #expect(heedless == expiry)
        }
        guard decision != .fresh else { return }
        let servesOnError = row.answer == .firstOrError || row.answer == .backgroundOrError
        #expect(expiry.mayServe(afterErrorAt: now) == servesOnError)
        // The serialized field has the same meaning.
        let again = HTTPExpiry(CacheControl(CacheControl(row.control).field), age, row.role)
        #expect(again == expiry)
    }

    @Test func whatIsNotKnownIsAskedFor() {
        #expect(FreshnessDecision(nil, at: 0) == .revalidate)
    }

    /// The clock was set back by a day: the age of the response is unknown.
    @Test func theAgeOfAnAnswerFromAFastClockIsNotKnown() {
        let expiry = HTTPExpiry(
            born: Self.answered * 1_000, freshFor: 60_000, staleFor: 60_000, errorFor: 60_000)
        let now = (Self.answered - 86_400) * 1_000
        #expect(FreshnessDecision(expiry, at: now) == .revalidate)
        #expect(!expiry.mayServe(afterErrorAt: now))
        #expect(expiry.remaining(at: now) == 0)
        // Two processes may read one clock slightly out of order.
        #expect(FreshnessDecision(expiry, at: Self.answered * 1_000 - 20) == .fresh)
    }

    /// Directives within an unterminated quote count as well, to be safe.
    @Test(arguments: [
        ("no-store", false, false), ("No-Store, max-age=60", false, false),
        ("private", false, true), ("private=\"set-cookie\", max-age=60", false, true),
        ("max-age=60", true, true), ("extension=\"no-store\"", true, true),
        ("extension=\"a, no-store, b\"", true, true), ("a=\"b, no-store", false, false),
        ("public", true, true), ("no-cache", true, true), ("must-revalidate", true, true),
    ]) func whoMayKeepIt(control: String, forAll: Bool, forOne: Bool) {
        let control = CacheControl(control)
        #expect(CacheRole.shared.mayKeep(control) == forAll)
        #expect(CacheRole.personal.mayKeep(control) == forOne)
        #expect(CacheRole.heedless.mayKeep(control))
    }

    /// RFC 9111 §4.2.3: the response delay counts as age.
    @Test func theTimeOfTheTransferCounts() {
        let answered = Self.answered * 1_000
        let age = ResponseAge(
            date: nil, age: "10", expires: nil, asked: answered - 2_500, answered: answered)
        #expect(age.bornMilliseconds == answered - 12_500)
        let expiry = HTTPExpiry(CacheControl("max-age=60"), age, .shared)
        #expect(expiry.age(at: answered) == 12)
        #expect(expiry.remaining(at: answered) == 47)
        #expect(expiry.remaining(at: answered + 48_000) == 0)
    }

    /// A response from the year 9999 isn't used beyond that year.
    @Test func theLastUseIsADateThatTravels() {
        let latest = HTTPExpiry.bornRange.upperBound
        let expiry = HTTPExpiry(born: latest, freshFor: 60_000, errorFor: 60_000)
        #expect(expiry.lastUse == latest)
        #expect(HTTPExpiry(born: 1_000, freshFor: 60_000, errorFor: 500).lastUse == 61_500)
    }

    /// RFC 9111 §4.2.2: a default lifetime applies only if the response states none and nothing
    /// forbids it.
    @Test(
        arguments: [
            (nil, nil, 100, 110, 120), ("public", nil, 100, 110, 120),
            ("stale-while-revalidate=5", nil, 100, 105, 120),
            ("max-age=7", nil, 7, 7, 7), ("max-age=x", nil, 0, 0, 0), ("s-maxage=7", nil, 7, 7, 7),
            ("no-cache", nil, 0, 0, 0), ("no-store", nil, 0, 0, 0),
            ("must-revalidate", nil, 100, 100, 100),
            (nil, after(30), 30, 30, 30), (nil, "0", 0, 0, 0),
        ] as [(String?, String?, Int64, Int64, Int64)])
    func whatNothingIsSaidOfIsAsAssumed(
        control: String?, expires: String?, fresh: Int64, stale: Int64, error: Int64
    ) {
        let limits = HTTPExpiry.Limits().assuming(
            AssumedLifetime(fresh: 100, whileRevalidate: 10, ifError: 20))
        let age = Self.age(expires: expires)
        let expiry = HTTPExpiry(CacheControl(control), age, .shared, limits)
        expect(expiry, fresh: fresh, stale: stale, error: error)
    }

    /// A 304 without caching fields keeps the stored ones. If those state nothing either, each
    /// client's assumed lifetime applies, regardless of which client stored the entry.
    @Test(
        arguments: [("no-cache", 0), ("max-age=60", 60), ("public", 100), (nil, 100)]
            as [(String?, Int64)])
    func anAssumptionCountsWhereNothingWasSaid(old: String?, fresh: Int64) {
        let before = OriginCaching(CacheControl(old), ResponseAge(bornMilliseconds: 1_000))
        let after = before.renewed(
            by: OriginCaching(CacheControl(nil), ResponseAge(bornMilliseconds: 9_000)))
        let limits = HTTPExpiry.Limits().assuming(AssumedLifetime(fresh: 100))
        #expect(after.expiry(.shared, limits).freshUntil == 9_000 + fresh * 1_000)
        #expect(after.leavesLifetimeOpen == (fresh == 100))
    }

    @Test(
        arguments: [(-1, 0, 0), (0, 31_536_001, 0), (0, 0, Int64.max)] as [(Int64, Int64, Int64)])
    func anAssumptionHasItsLimits(fresh: Int64, stale: Int64, error: Int64) throws {
        try AssumedLifetime(fresh: 31_536_000).check()
        #expect(throws: ImageError.self) {
            try AssumedLifetime(fresh: fresh, whileRevalidate: stale, ifError: error).check()
        }
    }

    /// RFC 9111 §4.3.4 and §3.2: a 304 replaces the fields that it contains, and keeps the others.
    @Test(
        arguments: [
            ("max-age=60, stale-while-revalidate=30", nil, nil, 60, 90, 60),
            ("max-age=60, stale-if-error=30", "max-age=10", nil, 10, 10, 10),
            ("max-age=60, stale-if-error=30", "no-cache", nil, 0, 0, 0),
            ("max-age=60", "stale-while-revalidate=5", nil, 0, 5, 0),
            ("max-age=60", nil, after(30), 60, 60, 60),
            ("public", nil, after(30), 30, 30, 30),
            ("public", nil, after(3_600), 90, 90, 90),
            ("public", nil, nil, 90, 90, 90),
            ("public", "private", nil, 0, 0, 0),
            ("max-age=0", "max-age=5, stale-if-error=5", nil, 5, 5, 10),
        ] as [(String, String?, String?, Int64, Int64, Int64)])
    func whatIsConfirmedLivesAnew(
        old: String, new: String?, expires: String?, fresh: Int64, stale: Int64, error: Int64
    ) {
        let before = OriginCaching(
            CacheControl(old),
            ResponseAge(
                bornMilliseconds: (Self.answered - 500) * 1_000,
                expiresInSeconds: old == "public" ? 90 : nil))
        let age = Self.age(expires: expires)
        let after = before.renewed(by: OriginCaching(CacheControl(new), age)).expiry(.shared)
        #expect(after.born == Self.answered * 1_000)
        expect(after, fresh: fresh, stale: stale, error: error)
    }

    /// RFC 9110 §5.6.7 has the first three; the seconds come from `date -u +%s`.
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_799),
            ("Friday, 01-Jan-70 00:00:00 GMT", 3_155_760_000),
            ("Tuesday, 14-Nov-73 00:00:00 GMT", 3_277_843_200),
            ("Wednesday, 14-Nov-74 00:00:00 GMT", 153_619_200),
            ("Mon, 29 Feb 2023 00:00:00 GMT", nil), ("Mon, 31 Apr 2023 00:00:00 GMT", nil),
            ("Mon, 00 May 2023 00:00:00 GMT", nil), ("Mon, 01 May 2023 24:00:00 GMT", nil),
            ("Mon, 01 May 2023 00:60:00 GMT", nil), ("Mon 01 May 2023 00:00:00 GMT", nil),
            ("Mon, 01 May 23 00:00:00 GMT", nil), ("Mon, 1 May 2023 00:00:00 GMT", nil),
            ("Mon, 01 May 2023 00:00:00 +0000", nil), ("Mon, 01 May 2023 00:00:00", nil),
            ("1700000000", nil), ("", nil), ("Xxx, 01 May 2023 00:00:00 GMT", nil),
        ] as [(String, Int64?)])
    func aDateIsRead(text: String, seconds: Int64?) {
        #expect(HTTPDate.seconds(text, now: Self.answered) == seconds)
    }

    /// As written by `date -u`.
    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (4_102_444_800, "Fri, 01 Jan 2100 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        ] as [(Int64, String)])
    func aDateIsWritten(seconds: Int64, text: String) {
        #expect(HTTPDate.text(of: seconds) == text)
    }
}
