extension ImagebusClient {
    /// Loads until this client may repeat the answer by itself, and returns the repeated answer.
    func learn(_ request: ImageRequest) async throws -> ImageResponse {
        let deadline = ContinuousClock.now.advanced(by: defaultTimeout)
        var pause = PollingPause()
        while ContinuousClock.now < deadline {
            _ = try await load(request).response
            if let answer = answerAtHand(to: request) { return answer }
            try await pause.wait()
        }
        throw StackFailure("the answer of a hit has no voucher")
    }
}
