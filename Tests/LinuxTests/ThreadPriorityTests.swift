import Glibc
import Linux
import Synchronization
import Testing

struct ThreadPriorityTests {
    @Test func aThreadThatStandsBackLeavesTheOthersAsTheyAre() throws {
        let before = getpriority(__priority_which_t(0), 0)
        let seen = Mutex<Int32>(before)
        let thread = try Thread(name: "meek") {
            try? Thread.standBack(by: 19)
            let now = getpriority(__priority_which_t(0), 0)
            seen.withLock { $0 = now }
        }
        thread.join()
        #expect(seen.withLock { $0 } == 19)
        #expect(getpriority(__priority_which_t(0), 0) == before)
    }
}
