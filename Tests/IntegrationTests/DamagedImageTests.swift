extension RealProcesses {
    /// An image with a valid header and damaged pixels.
    @Suite struct DamagedImageTests {
        @Test func onlyLoadsThatNeedThePixelsFail() async throws {
            let whole = try Images.waves(width: 200, height: 200).jpeg(quality: 90)
            let origin = OriginServer("/a.jpg", .bytes(Array(whole.prefix(whole.count / 2))))
            try await withStack { stack in
                let url = origin.url("/a.jpg")
                #expect(try stack.get([url]).exitStatus == 0, "delivered unchanged")
                let steps = try stack.get([url, "--resize", "50x50"])
                steps.expect(65, "damaged or incomplete after its header", "part=pixels")
                let again = try stack.get([url, "--resize", "60x60"])
                again.expect(66, "failure cache for loads that need its pixels")
                try stack.get([url]).expect(0)
                #expect(try stack.get([url, "--info"]).exitStatus == 0)
                #expect(origin.requestCount("/a.jpg") == 2, "only the first two loads fetch")
            }
        }

        /// A partial image delivered to one load isn't delivered to another that rejects partial
        /// images.
        @Test func whatIsThereIsShownToThoseWhoWantIt() async throws {
            let whole = try Images.waves(width: 200, height: 200).jpeg(quality: 90)
            let origin = OriginServer("/a.jpg", .bytes(Array(whole.prefix(whole.count / 2))))
            try await withStack { stack in
                let small = [origin.url("/a.jpg"), "--resize", "50x50", "--json"]
                for _ in 0..<2 {
                    let shown = try stack.get(small + ["--damaged", "show"]).expect(0)
                    let answer = try shown.json()
                    #expect(answer["damaged"] == .bool(true) && answer["width"]?.integer == 50)
                }
                #expect(try stack.get(small).exitStatus == 65, "rejected")
                #expect(try stack.get(small).exitStatus == 66, "rejected without a fetch")
                try stack.get(small + ["--damaged", "show"]).expect(0)
            }
        }

        /// All of its pixels are present.
        @Test func anImageWithoutItsEndIsWhole() async throws {
            let whole = try Images.waves(width: 200, height: 200).jpeg(quality: 90)
            let origin = OriginServer("/a.jpg", .bytes(Array(whole.dropLast(2))))
            try await withStack { stack in
                let end = try stack.get([origin.url("/a.jpg"), "--resize", "50x50", "--json"])
                #expect(try end.json()["damaged"] == .bool(false), "\(end)")
            }
        }
    }
}
