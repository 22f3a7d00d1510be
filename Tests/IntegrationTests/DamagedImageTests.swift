import StackKit
import TestKit
import Testing

extension RealProcesses {
    /// An image whose header is good and whose pixels are not.
    @Suite struct DamagedImageTests {
        @Test func onlyLoadsThatNeedThePixelsFail() async throws {
            let origin = OriginServer()
            let whole = try Images.waves(width: 200, height: 200).jpeg(quality: 90)
            origin.route("/a.jpg", .bytes(Array(whole.prefix(whole.count / 2))))
            try await withStack { stack in
                let url = origin.url("/a.jpg")
                #expect(try stack.get([url]).exitStatus == 0, "its bytes, as they are")
                let steps = try stack.get([url, "--resize", "50x50"])
                #expect(steps.exitStatus == 65, "\(steps)")
                #expect(steps.errorText.contains("damaged or incomplete behind its header"))
                #expect(steps.errorText.contains("part=pixels"))
                let again = try stack.get([url, "--resize", "60x60"])
                #expect(again.exitStatus == 66, "\(again)")
                #expect(again.errorText.contains("blacklisted where its pixels are needed"))
                let plain = try stack.get([url])
                #expect(plain.exitStatus == 0, "\(plain)")
                #expect(try stack.get([url, "--info"]).exitStatus == 0)
                #expect(origin.requestCount("/a.jpg") == 2, "by the loads that began")
            }
        }
    }
}
