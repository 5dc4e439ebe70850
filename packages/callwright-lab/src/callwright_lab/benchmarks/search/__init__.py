"""The search protocol of the Tool-use Refiner, over a local corpus."""
