"""What AgentDojo calls a pipeline: here only a name."""


class GroundTruthPipeline:
    name = None

    def __init__(self, task):
        self.task = task
