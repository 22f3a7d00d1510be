import Testing

@testable import Imagebus

@Suite struct ActionListTests {
    @Test func actionsComeInTheirOrder() {
        var list = ActionList<Int>()
        #expect(list.isEmpty && Array(list) == [])
        for action in 1...3 { list.append(action) }
        list += [4, 5]
        #expect(Array(list) == [1, 2, 3, 4, 5] && list.count == 5)
        #expect(list == [1, 2, 3, 4, 5] && list != [1, 2, 3, 4] && list != [2, 2, 3, 4, 5])
        #expect(ActionList(7) == [7] && ActionList<Int>() + ActionList(7) == [7])
    }

    @Test(arguments: [0..<0, 0..<1, 0..<3, 1..<2, 2..<2, 3..<3])
    func aPartIsReplacedAsInAnArray(range: Range<Int>) {
        for actions in [[], [9], [8, 9]] {
            var (list, array): (ActionList<Int>, [Int]) = ([1, 2, 3], [1, 2, 3])
            list.replaceSubrange(range, with: actions)
            array.replaceSubrange(range, with: actions)
            #expect(Array(list) == array)
            list.append(7)
            #expect(Array(list) == array + [7])
        }
    }
}
