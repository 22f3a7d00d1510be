import Testing

@testable import WebFront

/// The examined fields of a request: another request is equal if each of these fields is equal byte
/// for byte.
@Suite struct LookedAtTests {
    private func looked(_ fields: [String: String?]) -> LookedAt {
        var looked = LookedAt()
        for (name, value) in fields { looked.note(name, value) }
        return looked
    }

    private func areSame(_ looked: LookedAt, _ other: [String: String]) -> Bool {
        looked.areSame { other[$0] }
    }

    @Test func eachFieldThatWasLookedAtCounts() {
        let looked = looked(["a": "1", "b": "2"])
        #expect(areSame(looked, ["a": "1", "b": "2", "c": "3"]))
        #expect(!areSame(looked, ["a": "1", "b": "3"]))
        #expect(!areSame(looked, ["a": "1"]))
        #expect(areSame(LookedAt(), ["a": "1"]), "no field was examined")
    }

    @Test func aFieldThatIsNotThereIsNotEmpty() {
        #expect(areSame(looked(["a": nil]), [:]))
        #expect(!areSame(looked(["a": nil]), ["a": ""]))
        #expect(!areSame(looked(["a": ""]), [:]))
        #expect(looked(["a": nil]) != looked(["a": ""]))
    }

    /// Swift compares these strings as equal; credentials must not be.
    @Test func textsOfTheSameMeaningAreNotTheSame() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed)
        #expect(areSame(looked(["a": composed]), ["a": composed]))
        #expect(!areSame(looked(["a": composed]), ["a": decomposed]))
        #expect(looked(["a": composed]) != looked(["a": decomposed]))
    }
}
