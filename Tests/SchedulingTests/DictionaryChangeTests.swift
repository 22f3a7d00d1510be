import Model
import Testing

@Suite struct DictionaryChangeTests {
    @Test func aValueIsChangedWhereItLies() {
        var counts = ["a": [1], "b": [2]]
        let copy = counts
        #expect(counts.change("a") { $0.append(3) } != nil)
        #expect(counts == ["a": [1, 3], "b": [2]])
        #expect(copy == ["a": [1], "b": [2]])
    }

    @Test func aKeyWithoutAValueStaysWithoutOne() {
        var counts = ["a": 1]
        let isCalled = counts.change("b") { _ in true }
        #expect(isCalled == nil)
        #expect(counts == ["a": 1])
    }

    @Test func aKeyWithoutAValueGetsTheFirstOne() {
        var counts = ["a": 1]
        let results = ["a", "b"].map { key in
            counts.change(key, from: 10) { count in
                count += 1
                return count
            }
        }
        #expect(results == [2, 11])
        #expect(counts == ["a": 2, "b": 11])
    }
}
