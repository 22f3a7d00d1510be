import ImageModel
import Imagebus
import Messages
import TestKit
import Testing

extension RealProcesses {
    /// What an image is for wants one image at a time; see also ConformanceTests, `ViewCases`.
    @Suite struct SlotTests {
        @Test func aRaisedLoadOfASlotGoesOnAndAnswers() async throws {
            let slow = try SlowPicture()
            try await withStack { stack in
                let client = try stack.client()
                let task = client.load(
                    ImageRequest(slow.origin.url("/slow.jpg"), fit: 20, options: .lowPriority))
                #expect(await slow.origin.waitForRequest("/slow.jpg"))
                client.reprioritise(task, .high)
                slow.gate.open()
                _ = try await task.response
            }
        }
    }
}
